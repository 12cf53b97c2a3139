/** The OpenAPI addresses. Mirrors kube-openapi `handler3` and `handler`. */
import type { Answer } from '../handlers/answer.ts';
import type { RequestContext } from '../http/context.ts';

export interface OpenApi {
  /** Undefined for a path that is not of OpenAPI. */
  serve(context: RequestContext): Answer | undefined;
}

export function createOpenApi(): OpenApi {
  return { serve: () => undefined };
}
