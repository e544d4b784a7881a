// Kubernetes quantities, exactly: 1Gi, 100m, 1e3, .5. In bigint, because numbers would round. The API checks quantities, and the
// runtime compares them.

const quantityPattern = /^([+-]?)(\d*)(?:\.(\d*))?(?:([KMGTPE]i)|([numkMGTPE])|[eE]([-+]?\d{1,3}))?$/;
const binary: Readonly<Record<string, bigint>> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n };
const decimal: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const nano = 9;
const longest = 64;
const largestExponent = 18; // Kubernetes truncates beyond it, and computing a bigint of 10^999 would take long

/** The value in billionths, rounded up as Kubernetes does; undefined when the text is no quantity. */
export function parseQuantity(quantity: string | number): bigint | undefined {
  const text = String(quantity);
  const match = text.length <= longest ? quantityPattern.exec(text) : null;
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = "", binarySuffix, decimalSuffix, exponentText] = match;
  if (whole === "" && fraction === "") return undefined;

  const exponent = exponentText === undefined ? (decimal[decimalSuffix ?? ""] ?? 0) : Number(exponentText);
  if (Math.abs(exponent) > largestExponent) return undefined;
  const digits = BigInt(whole + fraction) << (binary[binarySuffix ?? ""] ?? 0n);
  const scale = nano + exponent - fraction.length;
  const magnitude = scale >= 0 ? digits * 10n ** BigInt(scale) : dividedUp(digits, 10n ** BigInt(-scale));
  return sign === "-" ? -magnitude : magnitude;
}

/** Negative, zero or positive as a is smaller than, equal to or larger than b; undefined when one is no quantity. */
export function compareQuantities(a: string | number, b: string | number): number | undefined {
  const [left, right] = [parseQuantity(a), parseQuantity(b)];
  if (left === undefined || right === undefined) return undefined;
  return left < right ? -1 : left > right ? 1 : 0;
}

function dividedUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
