/** All properties of the fuzz suite. */
import { applyProperties } from './apply.ts';
import { documentProperties } from './documents.ts';
import { kindProperties } from './kinds.ts';
import { ownershipProperties } from './ownership.ts';
import { patchProperties } from './patches.ts';
import type { FuzzProperty } from './property.ts';
import { quantityProperties } from './quantities.ts';
import { quickPathProperties } from './quick-paths.ts';
import { requestProperties } from './requests.ts';
import { selectorProperties } from './selectors.ts';

export const fuzzProperties: readonly FuzzProperty[] = [
  ...requestProperties,
  ...selectorProperties,
  ...quantityProperties,
  ...patchProperties,
  ...documentProperties,
  ...quickPathProperties,
  ...applyProperties,
  ...ownershipProperties,
  ...kindProperties,
];
