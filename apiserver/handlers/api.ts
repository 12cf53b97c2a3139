/** What the handlers work with: one explicit object, made in `start.ts`. */
import type { Clock } from '../../machinery/process/clock.ts';
import type { Logger } from '../../machinery/process/logger.ts';
import type { Random } from '../../machinery/process/random.ts';
import type { Authorizer } from '../http/authorize.ts';
import type { RequestContext } from '../http/context.ts';
import { warn } from '../http/context.ts';
import type { ServiceAccountTokens } from '../http/service-account-tokens.ts';
import type { ObjectReader, Registry, StrategyContext } from '../registry/resource.ts';
import type { Store } from '../storage/interface.ts';
import type { WatchHub } from '../watch/hub.ts';
import type { KubeletDialer } from './kubelet.ts';
import type { ObjectCache } from './objects.ts';
import type { Catalog } from './served.ts';

export interface Api {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly store: Store;
  readonly registry: Registry;
  readonly catalog: Catalog;
  readonly cache: ObjectCache;
  readonly reader: ObjectReader;
  readonly hub: WatchHub;
  readonly tokens: ServiceAccountTokens;
  readonly kubelet: KubeletDialer;
  readonly authorizer: Authorizer;
}

export function strategyContext(api: Api, context: RequestContext, options: { dryRun: boolean; subresource?: string }): StrategyContext {
  return {
    now: api.clock.now(),
    user: context.user,
    dryRun: options.dryRun,
    requestGroup: context.info.group,
    subresource: options.subresource ?? '',
    warn: (text) => warn(context, text),
    sleep: (ms) => api.clock.sleep(ms),
    suffix: (length) => api.random.suffix(length),
    reader: api.reader,
  };
}
