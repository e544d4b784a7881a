// Access keys with rights of their own, by MinIO's API for administrators.
import { createCipheriv, pbkdf2Sync, randomBytes } from "node:crypto";
import type { Minio } from "./minio.ts";
import type { AccessKey } from "./signature.ts";

const api = "/minio/admin/v3";

/** The least that a repository needs: to list one bucket, and to read, write and delete what is in it. */
const leastActions = ["s3:ListBucket", "s3:GetObject", "s3:PutObject", "s3:DeleteObject"];

/** A new key for one bucket and no other. Fewer actions make one that may only read, for example. */
export async function addKey({ client, root }: Minio, bucket: string, actions: readonly string[] = leastActions): Promise<AccessKey> {
  const key = { accessKeyId: randomBytes(8).toString("hex"), secretAccessKey: randomBytes(20).toString("hex") };
  const { accessKeyId } = key;
  const policy = {
    Version: "2012-10-17",
    Statement: [{ Effect: "Allow", Action: actions, Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`] }],
  };
  const user = { secretKey: key.secretAccessKey, status: "enabled" };
  await client.call("PUT", `${api}/add-canned-policy`, { query: { name: accessKeyId }, body: Buffer.from(JSON.stringify(policy)) });
  await client.call("PUT", `${api}/add-user`, {
    query: { accessKey: accessKeyId },
    body: encrypted(JSON.stringify(user), root.secretAccessKey),
  });
  await client.call("PUT", `${api}/set-user-or-group-policy`, {
    query: { policyName: accessKeyId, userOrGroup: accessKeyId, isGroup: "false" },
  });
  return key;
}

/** From now on requests with it are refused. */
export async function removeKey({ client }: Minio, { accessKeyId }: Pick<AccessKey, "accessKeyId">): Promise<void> {
  await client.call("DELETE", `${api}/remove-user`, { query: { accessKey: accessKeyId } });
}

/**
 * As MinIO wants secrets on the wire, encrypted by the administrator's own: madmin.EncryptData with PBKDF2 and AES-256-GCM. The format is a
 * stream of fragments with numbered nonces. Number 0 only makes a tag, which every fragment is bound to; a short text is one fragment.
 */
function encrypted(text: string, password: string): Buffer {
  const [salt, nonce] = [randomBytes(32), randomBytes(8)];
  const key = pbkdf2Sync(password, salt, 8192, 32, "sha256");
  const seal = (number: number, data: string, boundTo: Buffer) => {
    const cipher = createCipheriv("aes-256-gcm", key, Buffer.from([...nonce, number, 0, 0, 0])).setAAD(boundTo);
    return Buffer.concat([cipher.update(data, "utf8"), cipher.final(), cipher.getAuthTag()]);
  };
  const [pbkdf2WithAes, lastFragment] = [Buffer.from([0x02]), Buffer.from([0x80])];
  const tag = seal(0, "", Buffer.alloc(0));
  return Buffer.concat([salt, pbkdf2WithAes, nonce, seal(1, text, Buffer.concat([lastFragment, tag]))]);
}
