/**
 * What is said of amounts of bytes that are not whole. Mirrors the warnings of kubernetes `pkg/api/pod` and `pkg/api/persistentvolumeclaim`.
 */
import { formatQuantity, parseQuantity, quantityMilliWrapped } from '../../../machinery/api/quantity.ts';

/** Bytes come whole. */
export function fractionWarning(value: string | undefined, path: string): string | undefined {
  if (value === undefined) return undefined;
  const quantity = parseQuantity(value);
  if (quantityMilliWrapped(quantity) % 1000n === 0n) return undefined;
  return `${path}: fractional byte value ${JSON.stringify(formatQuantity(quantity))} is invalid, must be an integer`;
}
