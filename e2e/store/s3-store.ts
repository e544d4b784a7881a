// A real S3 server for tests, with TLS and an authority of its own, and a switch for faults.
import { createAuthority, issueCertificate } from "../../runtime/certificates/issue.ts";
import { Front, type StoreFault } from "./front.ts";
import { addKey, removeKey } from "./keys.ts";
import { Minio } from "./minio.ts";
import { S3Client, S3Error, type S3Object } from "./s3-client.ts";
import { type AccessKey, region } from "./signature.ts";

interface S3StoreOptions {
  /** Of this machine, where clients reach the store; loopback by default. */
  readonly address?: string;
  /** DNS names that clients know it by, such as those of a Service. */
  readonly names?: readonly string[];
}

const lifetimeMs = 24 * 3_600_000;

/**
 * Clients use the endpoint, where the faults are. What the store is asked here goes past the faults: a test can look into a store that its
 * clients find dead. Buckets are part of the path (`https://endpoint/bucket/key`), not of the host name.
 */
export class S3Store implements AsyncDisposable {
  /** `https://ADDRESS:PORT`; the certificate is also valid for the names. */
  readonly endpoint: string;
  readonly address: string;
  readonly port: number;
  readonly region = region;
  /** Of the authority that clients must trust. */
  readonly caCertificate: string;
  /** Of the owner, who may do everything. */
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly #front: Front;
  readonly #minio: Minio;

  private constructor(address: string, caCertificate: string, front: Front, minio: Minio) {
    this.address = address;
    this.port = front.port;
    this.endpoint = `https://${address}:${front.port}`;
    this.caCertificate = caCertificate;
    this.accessKeyId = minio.root.accessKeyId;
    this.secretAccessKey = minio.root.secretAccessKey;
    this.#front = front;
    this.#minio = minio;
  }

  /** Builds MinIO when it was never built, which takes minutes: call it where no timeout ends it. */
  static async start({ address = "127.0.0.1", names = [] }: S3StoreOptions = {}): Promise<S3Store> {
    const now = new Date();
    const authority = await createAuthority({ commonName: "store authority", lifetimeMs, now });
    const leaf = { commonName: "store", dnsNames: names, ipAddresses: [address], usages: ["server"], lifetimeMs, now } as const;
    const certified = await issueCertificate(authority, leaf);
    const minio = await Minio.start();
    try {
      return new S3Store(address, authority.certificate, await Front.start(address, certified, minio.port), minio);
    } catch (error) {
      await minio.stop();
      throw error;
    }
  }

  /** A client through the endpoint; the owner's by default. */
  client(key: AccessKey = this): S3Client {
    const { endpoint, caCertificate } = this;
    const { accessKeyId, secretAccessKey } = key;
    return new S3Client({ endpoint, caCertificate, accessKeyId, secretAccessKey });
  }

  /** Leaves a bucket alone that is there: the databases of a suite may share one. */
  async makeBucket(name: string): Promise<void> {
    await this.#minio.client.call("PUT", `/${name}`).catch((error) => {
      if (!(error instanceof S3Error && error.code === "BucketAlreadyOwnedByYou")) throw error;
    });
  }

  async objects(bucket: string, prefix = ""): Promise<S3Object[]> {
    return await this.#minio.client.list(bucket, prefix);
  }

  /** A new key that may list, read, write and delete in one bucket, or only what is named, such as `s3:GetObject`. */
  async addKey(bucket: string, actions?: readonly string[]): Promise<AccessKey> {
    return await addKey(this.#minio, bucket, actions);
  }

  /** Requests with it are refused from now on. */
  async removeKey(key: Pick<AccessKey, "accessKeyId">): Promise<void> {
    await removeKey(this.#minio, key);
  }

  /** Sets a fault in place of the one before it; undefined heals. Connections that fell silent stay so. */
  async fault(fault: StoreFault | undefined): Promise<void> {
    await this.#front.fault(fault);
  }

  /** Sets the fault at the moment at which so many segments of an archive are read. Resolves then. */
  async faultAtSegment(count: number, fault: StoreFault): Promise<void> {
    await this.#front.faultAt(count, /\/archive\/.*\/[0-9A-F]{24}-/, fault);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#front.stop();
    await this.#minio.stop();
  }
}
