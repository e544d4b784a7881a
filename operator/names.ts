// Names that the operator and its manifests must agree on.

/** The account in config/manager. */
export const operatorAccount = { namespace: "sampledb-system", name: "sampledb-operator" } as const;

export const webhookNames = {
  service: "sampledb-webhook",
  secret: "sampledb-webhook-certificate",
  validating: "sampledb-validating-webhooks",
} as const;
