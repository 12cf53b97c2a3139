/** Objects that are sent, answered and never stored (reviews, token requests): what of their metadata a client may say. */
import type { KubeObject } from '../../machinery/api/object.ts';
import type { RequestContext } from '../http/context.ts';
import { fillNamespace } from './create.ts';
import type { ServedResource } from './served.ts';

const OF_SERVER = ['creationTimestamp', 'uid', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink'] as const;

export function cleanMetadata(context: RequestContext, served: ServedResource, object: KubeObject): void {
  for (const member of OF_SERVER) delete object.metadata[member];
  fillNamespace(context, served, object);
}
