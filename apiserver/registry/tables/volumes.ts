/**
 * Cells about storage. Mirrors kubernetes `pkg/apis/core/v1/helper` GetAccessModesAsString.
 */
const SHORT: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};
const ORDER = ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'];

export const accessModesText = (modes: readonly string[] | undefined): string =>
  ORDER.filter((mode) => modes?.includes(mode))
    .map((mode) => SHORT[mode])
    .join(',');

export const capacityText = (capacity: Record<string, string> | undefined): string => capacity?.['storage'] ?? '0';
