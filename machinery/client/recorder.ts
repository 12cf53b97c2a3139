/**
 * Writes Events behind the back of whoever records them: one queue, one writer, bounded. Mirrors client-go `tools/record/event.go` for core events and
 * `tools/events` for events.k8s.io (the scheduler's), which count repetitions as a series.
 *
 * Invariant: recording never fails, waits or throws; an event that cannot be written is dropped after some tries, and said so in the log.
 */
import type { KubeObject } from '../api/object.ts';
import { isReason, StatusError } from '../api/status.ts';
import { formatMicroTime, formatTime } from '../api/time.ts';
import type { Event, ObjectReference } from '../api/types/core.v1.ts';
import type { Event as NewEvent } from '../api/types/events.k8s.io.v1.ts';
import type { Clock } from '../process/clock.ts';
import type { Logger } from '../process/logger.ts';
import type { Random } from '../process/random.ts';
import { Backoff } from './backoff.ts';
import type { Client } from './client.ts';
import { ConnectionError } from './errors.ts';
import { EventCorrelator, type Recorded, type Verdict } from './event-correlator.ts';
import type { EventOptions, EventRecorder } from './event-recorder.ts';
import { events, newEvents } from './resource-type.ts';

export interface RecorderOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** `replicaset-controller`, `default-scheduler`, `kubelet`. */
  readonly component: string;
  /** The node it runs on, for a kubelet. */
  readonly host?: string;
  /** Default `core`. */
  readonly api?: 'core' | 'events.k8s.io';
}

export function createRecorder(client: Client, options: RecorderOptions): EventRecorder {
  return new Recorder(client, options);
}

/** Those of a burst of a few thousand pods; upstream's maxQueuedEvents is 1000, and its events go before nobody. */
const MAX_QUEUED = 10_000;
/** Upstream's maxTriesPerEvent. */
const MAX_TRIES = 12;
const MAX_NAME = 253;
const BACKGROUND = { background: true };

/** Holds no object: thousands may wait. */
interface Queued {
  readonly regarding: ObjectReference;
  readonly related: ObjectReference | undefined;
  readonly action: string | undefined;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly at: Date;
  readonly host: string;
  /** Who says it about which object. */
  readonly source: string;
}

class Recorder implements EventRecorder {
  readonly #client: Client;
  readonly #options: RecorderOptions;
  readonly #correlator: EventCorrelator;
  readonly #queue: Queued[] = [];
  #writing: Promise<void> | undefined;
  #dropped = 0;
  #serial = 0;

  constructor(client: Client, options: RecorderOptions) {
    this.#client = client;
    this.#options = options;
    this.#correlator = new EventCorrelator(options.clock);
  }

  /** A flood about one object is cut before it takes the places of others in the queue. */
  event(about: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string, options: EventOptions = {}): void {
    const host = options.host ?? this.#options.host ?? '';
    const source = [this.#options.component, host, referenceKey(about)].join('\0');
    if (!this.#correlator.mayPass(source)) return;
    if (this.#queue.length >= MAX_QUEUED) {
      this.#dropped++;
      return;
    }
    const regarding = reference(about, options.fieldPath);
    const related = options.related && reference(options.related);
    this.#queue.push({ regarding, related, action: options.action, type, reason, message, at: this.#options.clock.now(), host, source });
    this.#writing ??= this.#drain();
  }

  flush(): Promise<void> {
    return this.#writing ?? Promise.resolve();
  }

  async #drain(): Promise<void> {
    // the caller's own work goes first
    await Promise.resolve();
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) await this.#record(next);
    this.#writing = undefined;
    if (this.#dropped === 0) return;
    this.#options.logger.warn({ dropped: this.#dropped }, 'more events than could be written');
    this.#dropped = 0;
  }

  async #record(item: Queued): Promise<void> {
    const { source, type, reason, message, regarding, action } = item;
    const isSeries = this.#options.api === 'events.k8s.io';
    const key = [source, regarding.fieldPath ?? '', type, reason, ...(isSeries ? [action ?? ''] : [])].join('\0');
    // events.k8s.io counts by what happened, whatever the words
    const verdict = this.#correlator.judge({ key, message: isSeries ? '' : message });
    await this.#write(item, isSeries ? { ...verdict, message } : verdict);
  }

  async #write(item: Queued, verdict: Verdict): Promise<void> {
    const { clock, logger } = this.#options;
    const backoff = new Backoff(this.#options);
    let { earlier } = verdict;
    for (let attempt = 1; ; attempt++) {
      try {
        if (earlier) await this.#count(item, verdict, earlier);
        else await this.#create(item, verdict);
        return;
      } catch (error) {
        if (earlier && isReason(error, 'NotFound')) {
          // its time to live is over: the next is a first again
          this.#correlator.forget(verdict.id);
          earlier = undefined;
          continue;
        }
        if (!isPassing(error) || attempt >= MAX_TRIES) {
          logger.debug({ err: error, reason: item.reason, about: item.regarding.name }, 'event could not be written');
          return;
        }
        await clock.sleep(backoff.next(error));
      }
    }
  }

  async #create(item: Queued, verdict: Verdict): Promise<void> {
    const { regarding, at, host } = item;
    const namespace = regarding.namespace || 'default';
    const suffix = `.${this.#suffix(at)}`;
    const metadata = { name: (regarding.name ?? '').slice(0, MAX_NAME - suffix.length) + suffix, namespace };
    const { component, api } = this.#options;
    const related = item.related && { related: item.related };
    const action = item.action !== undefined && { action: item.action };
    if (api === 'events.k8s.io') {
      const event: NewEvent = {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata,
        eventTime: formatMicroTime(at),
        reportingController: component,
        reportingInstance: host || `${component}-${process.pid}`,
        ...action,
        reason: item.reason,
        regarding,
        ...related,
        note: truncate(verdict.message),
        type: item.type,
      };
      await this.#client.create(newEvents, event, BACKGROUND);
    } else {
      const event: Event = {
        apiVersion: 'v1',
        kind: 'Event',
        metadata,
        involvedObject: regarding,
        reason: item.reason,
        message: truncate(verdict.message),
        source: { component, ...(host && { host }) },
        firstTimestamp: formatTime(at),
        lastTimestamp: formatTime(at),
        count: 1,
        type: item.type,
        ...action,
        ...related,
        reportingComponent: component,
        reportingInstance: host,
      };
      await this.#client.create(events, event, BACKGROUND);
    }
    this.#correlator.remember(verdict.id, { ...metadata, firstTimestamp: formatTime(at), count: 1 });
  }

  async #count(item: Queued, verdict: Verdict, earlier: Recorded): Promise<void> {
    const { name, namespace } = earlier;
    const count = earlier.count + 1;
    const type = 'application/strategic-merge-patch+json';
    if (this.#options.api === 'events.k8s.io') {
      await this.#client.patch(
        newEvents,
        { namespace, name },
        type,
        { series: { count, lastObservedTime: formatMicroTime(item.at) } },
        BACKGROUND,
      );
    } else {
      const patch = { count, lastTimestamp: formatTime(item.at), message: truncate(verdict.message) };
      await this.#client.patch(events, { namespace, name }, type, patch, BACKGROUND);
    }
    earlier.count = count;
  }

  /** Unique within a namespace: nanoseconds in hexadecimal, as upstream's names; the serial number stands for the digits a Date lacks. */
  #suffix(at: Date): string {
    this.#serial = (this.#serial + 1) % 1_000_000;
    return (BigInt(at.getTime()) * 1_000_000n + BigInt((this.#serial * 7919 + process.pid * 31) % 1_000_000)).toString(16);
  }
}

/** Worth another try: the server was away, busy or broken, not unwilling. */
function isPassing(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof StatusError && (error.code >= 500 || error.code === 429));
}

function reference(object: KubeObject, fieldPath?: string): ObjectReference {
  const { namespace, name, uid, resourceVersion } = object.metadata;
  return {
    kind: object.kind,
    ...(namespace && { namespace }),
    ...(name && { name }),
    ...(uid && { uid }),
    apiVersion: object.apiVersion,
    ...(resourceVersion && { resourceVersion }),
    ...(fieldPath && { fieldPath }),
  };
}

const referenceKey = ({ apiVersion, kind, metadata }: KubeObject): string =>
  [apiVersion, kind, metadata.namespace ?? '', metadata.name ?? '', metadata.uid ?? ''].join('/');

const MAX_MESSAGE_BYTES = 1024;

/** The API refuses longer ones. Cuts between characters. */
function truncate(message: string): string {
  if (Buffer.byteLength(message) <= MAX_MESSAGE_BYTES) return message;
  const ellipsis = '...';
  const cut = Buffer.from(message)
    .subarray(0, MAX_MESSAGE_BYTES - ellipsis.length)
    .toString('utf8');
  return cut.replace(/\uFFFD+$/, '') + ellipsis;
}
