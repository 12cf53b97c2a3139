/** Values that are a number or a percentage (`maxUnavailable: 25%`). Mirrors apimachinery `util/intstr`. */

export class IntOrStringError extends Error {}

/** The number itself, or the percentage of `total`, rounded up or down. Throws IntOrStringError for other text. */
export function scaledValue(value: number | string, total: number, roundUp: boolean): number {
  if (typeof value === 'number') return value;
  const match = /^([-+]?\d{1,18})%$/.exec(value);
  if (match === null) throw new IntOrStringError(`invalid value for IntOrString: invalid type: string is not a percentage`);
  const share = (Number(match[1]) * total) / 100;
  return roundUp ? Math.ceil(share) : Math.floor(share);
}
