// Authentication methods of pg_hba.conf: where each may stand, and the options that it takes.
import { shown } from "./violation.ts";

export const connectionTypes = ["local", "host", "hostssl", "hostnossl", "hostgssenc", "hostnogssenc"] as const;
export type ConnectionType = (typeof connectionTypes)[number];

/** With the options of each. Without sspi (Windows) and bsd (OpenBSD), which our servers are built without. */
const methods: Readonly<Record<string, readonly string[]>> = {
  trust: [],
  reject: [],
  "scram-sha-256": [],
  md5: [],
  password: [],
  gss: ["map", "krb_realm", "include_realm"],
  ident: ["map"],
  peer: ["map"],
  ldap: [
    ...["ldapurl", "ldaptls", "ldapscheme", "ldapserver", "ldapport", "ldapbinddn", "ldapbindpasswd", "ldapsearchattribute"],
    ...["ldapsearchfilter", "ldapbasedn", "ldapprefix", "ldapsuffix"],
  ],
  radius: ["radiusservers", "radiussecrets", "radiusports", "radiusidentifiers"],
  cert: ["map"],
  pam: ["pamservice", "pam_use_hostname"],
};

/** Options of the connection rather than of the method. */
const certificateOptions: Readonly<Record<string, readonly string[]>> = {
  clientcert: ["verify-ca", "verify-full"],
  clientname: ["CN", "DN"],
};
const encrypted = new Set<ConnectionType>(["local", "hostssl", "hostgssenc"]);

/** What is wrong with the end of a line, as the end of a sentence; undefined when nothing is. */
export function methodFault(type: ConnectionType, method: string, options: readonly string[]): string | undefined {
  if (!Object.hasOwn(methods, method)) return `has ${shown(method)} as method; allowed are ${Object.keys(methods).join(", ")}`;
  return placeFault(type, method) ?? optionFault(type, method, options);
}

function placeFault(type: ConnectionType, method: string): string | undefined {
  if (method === "trust" && type !== "local") return "lets anyone in over the network with trust; use scram-sha-256";
  if (method === "password" && !encrypted.has(type))
    return `sends the password in clear text with password on a ${type} line; use scram-sha-256, or hostssl`;
  if (method === "peer" && type !== "local") return `has peer on a ${type} line; peer is allowed with local only, use scram-sha-256`;
  if (method === "gss" && type === "local")
    return "has gss on a local line; gss is allowed over the network only, use peer or scram-sha-256";
  if (method === "cert" && type !== "hostssl") return `has cert on a ${type} line; cert is allowed with hostssl only`;
  return undefined;
}

function optionFault(type: ConnectionType, method: string, options: readonly string[]): string | undefined {
  const own = methods[method] ?? [];
  for (const option of options) {
    const equals = option.indexOf("=");
    const name = option.slice(0, Math.max(0, equals));
    const value = option.slice(equals + 1);
    const values = Object.hasOwn(certificateOptions, name) ? certificateOptions[name] : undefined;
    if (values !== undefined) {
      if (type !== "hostssl") return `has the option ${shown(option)} on a ${type} line; ${name} is allowed with hostssl only`;
      if (!values.includes(value)) return `has ${shown(option)}; allowed are ${values.map((each) => `${name}=${each}`).join(" and ")}`;
      if (method === "cert" && value === "verify-ca") return `has ${shown(option)} with cert, which needs clientcert=verify-full`;
    } else if (!own.includes(name)) {
      const allowed = [...own, ...(type === "hostssl" ? Object.keys(certificateOptions) : [])];
      const list = allowed.length === 0 ? "it takes none" : `allowed are ${allowed.map((each) => `${each}=…`).join(", ")}`;
      return `has ${shown(option)} after ${method}; ${list}`;
    }
  }
  return combinationFault(method, new Set(options.map((option) => option.split("=")[0] ?? "")));
}

/** Options that the server wants, or does not want together. */
function combinationFault(method: string, given: ReadonlySet<string>): string | undefined {
  if (method === "radius" && !(given.has("radiusservers") && given.has("radiussecrets"))) {
    return "lacks options; radius needs radiusservers=… and radiussecrets=…";
  }
  if (method !== "ldap") return undefined;
  const binds = ["ldapprefix", "ldapsuffix"].find((name) => given.has(name));
  const searches = ["ldapbasedn", "ldapbinddn", "ldapbindpasswd", "ldapsearchattribute", "ldapsearchfilter", "ldapurl"].find((name) =>
    given.has(name),
  );
  if (binds !== undefined && searches !== undefined)
    return `has ${binds} and ${searches}; ldap takes a prefix and a suffix, or what it searches by`;
  if (binds === undefined && !given.has("ldapurl") && !given.has("ldapbasedn")) {
    return "lacks options; ldap needs ldapurl=…, ldapbasedn=…, ldapprefix=… or ldapsuffix=…";
  }
  return undefined;
}
