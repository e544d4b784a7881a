// Lines of pg_hba.conf. One wrong line and the server neither reloads the file nor starts with it, so each is read as it reads them.
import { isIP, isIPv4, isIPv6 } from "node:net";
import { type ConnectionType, connectionTypes, methodFault } from "./hba-methods.ts";
import { type Check, shown } from "./violation.ts";

const hostName = /^\.?[A-Za-z0-9_]([-A-Za-z0-9_]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([-A-Za-z0-9_]*[A-Za-z0-9_])?)*\.?$/;
const addressWords = new Set(["all", "samehost", "samenet"]);
const allowedAddresses = "allowed are 10.0.0.0/8, fd00::/8, an address and a mask, a host name, .example.com, all, samehost and samenet";

/** One line; the rest of the file is not looked at. */
export const hba: Check<string> = function* (line, field) {
  const fault = lineFault(line);
  if (fault !== undefined) yield { field, message: `${shown(line)} ${fault}` };
};

function lineFault(line: string): string | undefined {
  // A line end makes two lines of it, and a backslash at the end makes one line of it and the operator's next.
  if (/\p{Cc}/u.test(line.replaceAll("\t", " ")))
    return "has a line end or another control character in it; write each line as an item of its own";
  if (line.endsWith("\\")) return "ends with a backslash, which would swallow the next line; write each line whole";
  const words = splitWords(line);
  if (words === undefined) return "has a double quote that is not closed; quote both ends of a name";
  const type = connectionTypes.find((known) => known === words[0]);
  if (type === undefined) return `does not begin with a connection type; allowed are ${connectionTypes.join(", ")}`;
  const file = words.slice(1, 3).find((word) => /(^|,)@/.test(word));
  if (file !== undefined)
    return `reads names from the file ${shown(file)}, which no instance has; write the names with commas between them`;
  return type === "local" ? localFault(words) : hostFault(type, words);
}

function localFault([, , , method, ...options]: readonly string[]): string | undefined {
  if (method === undefined) return "has too few fields; it needs local DATABASE USER METHOD";
  return methodFault("local", method, options);
}

function hostFault(type: ConnectionType, [, , , address, ...rest]: readonly string[]): string | undefined {
  const form = `it needs ${type} DATABASE USER ADDRESS METHOD`;
  if (address === undefined) return `has too few fields; ${form}`;
  const takesMask = isIP(address) !== 0;
  if (takesMask) {
    const mask = rest.shift();
    if (mask === undefined || isIP(mask) !== isIP(address)) {
      return `has the address ${shown(address)} without a mask; write ${address}/${isIPv4(address) ? 32 : 128} for this address alone`;
    }
  } else if (!isAddress(address)) {
    return `has ${shown(address)} as address; ${allowedAddresses}`;
  }
  const [method, ...options] = rest;
  if (method === undefined) return `has too few fields; ${form}`;
  return methodFault(type, method, options);
}

function isAddress(text: string): boolean {
  if (addressWords.has(text)) return true;
  const [network = "", length, ...more] = text.split("/");
  if (length !== undefined) {
    const bits = /^\d{1,3}$/.test(length) ? Number(length) : Number.POSITIVE_INFINITY;
    return more.length === 0 && ((isIPv4(network) && bits <= 32) || (isIPv6(network) && bits <= 128));
  }
  return text.length <= 253 && hostName.test(text) && !/^[\d.]+$/.test(text); // 10.1 is a network that lacks its length
}

/** The words of a line without its comment: blanks part them, quotes and commas hold them together. Undefined for a quote left open. */
function splitWords(line: string): string[] | undefined {
  const words: string[] = [];
  let word = "";
  let inQuotes = false;
  let wasQuoted = false;
  let continues = false; // after a comma the list goes on behind blanks
  const finish = () => {
    if (word !== "" || wasQuoted) words.push(word);
    word = "";
    wasQuoted = false;
  };
  for (const character of line) {
    if (character === '"') {
      inQuotes = !inQuotes;
      wasQuoted = true;
    } else if (inQuotes) word += character;
    else if (character === "#") break;
    else if (character === " " || character === "\t") {
      if (!continues) finish();
    } else {
      continues = character === ",";
      word += character;
    }
  }
  if (inQuotes) return undefined;
  finish();
  return words;
}
