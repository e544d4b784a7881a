// The operator's webhooks: their server and its certificate.
import { backups, restores, sampledbs } from "../controllers/kinds/sampledb-io.ts";
import type { Cache } from "../runtime/cache/cache.ts";
import type { CertifiedKey } from "../runtime/certificates/issue.ts";
import type { KubeClient } from "../runtime/kube/client.ts";
import type { Log } from "../runtime/observability/log.ts";
import type { Metrics } from "../runtime/observability/metrics.ts";
import { parseAddress } from "../runtime/serving/address.ts";
import { watchMountedCertificates } from "../runtime/serving/mounted-certificates.ts";
import { allowed } from "../runtime/webhooks/admission.ts";
import { CertificateKeeper } from "../runtime/webhooks/certificate-keeper.ts";
import type { SelfMadeDependencies } from "../runtime/webhooks/self-made-certificates.ts";
import { WebhookServer } from "../runtime/webhooks/server.ts";
import { validators } from "./admission.ts";
import { isExempt } from "./exemptions.ts";
import type { Settings } from "./flags.ts";
import { operatorAccount, webhookNames } from "./names.ts";

export interface Webhooks {
  readonly port: number;
  /** Why the API server may not reach or trust them. */
  readonly problem: string | undefined;
  /** Lets the API server move to another replica; requests that still come are answered. */
  retire(): void;
  stop(): Promise<void>;
}

interface Dependencies {
  readonly settings: Settings;
  readonly namespace: string;
  /** Without a write guard: every replica answers, and keeps the certificate. */
  readonly client: KubeClient;
  readonly cache: Cache;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Undefined without webhooks: switched off, or without the rights that self-made certificates need. */
export async function startWebhooks(deps: Dependencies): Promise<Webhooks | undefined> {
  const { settings, cache, metrics, log } = deps;
  const address = parseAddress("--webhook-bind-address", settings.webhookAddress);
  if (!settings.webhooks || address === undefined) return undefined;
  const directory = settings.webhookCertificates;
  if (directory === undefined && settings.namespaces.length > 0) {
    log.info({}, "no webhooks: with --watch-namespaces their certificate has to be mounted (--webhook-cert-dir)");
    return undefined;
  }
  let server: WebhookServer | undefined;
  const onChange = (certificate: CertifiedKey) => server?.useCertificate(certificate);
  const certificates =
    directory === undefined
      ? await CertificateKeeper.start(selfMade(deps), onChange)
      : watchMountedCertificates({ directory, onChange, log });
  server = new WebhookServer({
    certificate: certificates.current,
    address,
    flag: "--webhook-bind-address",
    log,
    listener: metrics.webhooks,
  });
  const known = {
    ...{ databases: cache.watched(sampledbs), backups: cache.watched(backups), restores: cache.watched(restores) },
    now: () => new Date(),
  };
  const account = `system:serviceaccount:${deps.namespace}:${operatorAccount.name}`;
  for (const { path, validate } of validators)
    server.validate(path, (request) => (isExempt(request, account) ? allowed() : validate(request, known)));
  const port = await server.listen();
  return {
    port,
    get problem() {
      return certificates instanceof CertificateKeeper ? certificates.problem : undefined;
    },
    retire: () => server.retire(),
    stop: async () => {
      certificates.stop();
      await server.stop();
    },
  };
}

function selfMade({ client, namespace, log }: Dependencies): SelfMadeDependencies {
  return {
    kube: client,
    secret: { namespace, name: webhookNames.secret },
    configurations: [{ kind: "ValidatingWebhookConfiguration", name: webhookNames.validating }],
    // localhost and 127.0.0.1 for an operator that runs beside the API server, outside of the cluster.
    names: [`${webhookNames.service}.${namespace}.svc`, "localhost", "127.0.0.1"],
    commonName: webhookNames.service,
    now: () => new Date(),
    log,
  };
}
