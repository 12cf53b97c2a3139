/**
 * The seam between the watch hub and HTTP: what a watcher gets (its form), how it is picked (its selector), where it goes (its sink).
 * The hub knows revisions and bytes; how an event looks on the wire is the form's business.
 */
import type { AnyObject } from '../../machinery/api/object.ts';
import type { Status } from '../../machinery/api/status.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** The object of an event, as bytes and, parsed when first asked for, as an object. Shared by all watchers: nobody may change it. */
export interface WatchedObject {
  readonly key: string;
  /** What `metadata.resourceVersion` says. */
  readonly revision: number;
  /** The stored form: JSON of the stored version of the kind, without a newline. */
  readonly bytes: Buffer;
  readonly object: AnyObject;
}

/**
 * How events look: JSON object, Table, PartialObjectMetadata, protobuf, another served version. Frames are whole: with newline or length prefix.
 * A form is made per watch request, but watchers whose forms have equal `id`s share the frames that one of them made.
 */
export interface WatchForm {
  /** Names everything that decides the frames: `json apps/v1`, `table v1 Metadata pods`. */
  readonly id: string;
  /** True when the first frame of a stream differs (Tables carry their columns there). */
  readonly firstDiffers?: boolean;
  event(type: EventType, object: WatchedObject, first: boolean): Buffer;
  /** An object of the kind with nothing but `resourceVersion`, and the annotation `k8s.io/initial-events-end: "true"` when `initialEventsEnd`. */
  bookmark(revision: number, initialEventsEnd: boolean, first: boolean): Buffer;
  /** Always the plain Status, whatever the form. */
  error(status: Status): Buffer;
}

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** Which objects a watcher is shown, beyond the namespace. */
export interface WatchSelector {
  /** Equal texts select equally. */
  readonly id: string;
  matches(object: AnyObject): boolean;
  /** The only `metadata.name` that can match, if the field selector says so. Lets the hub skip the watcher for all others. */
  readonly name?: string;
  /** The only `spec.nodeName` that can match. */
  readonly nodeName?: string;
}

/** The response a watcher writes to. */
export interface WatchSink {
  write(chunk: Buffer): void;
  /** Bytes written but not yet given to the operating system. */
  readonly pendingBytes: number;
  /** Calls back once, when what is pending has been sent. May never call back when the client is gone. */
  onDrain(callback: () => void): void;
  /** A clean end of the stream. */
  end(): void;
  /** Cuts the connection. */
  destroy(): void;
}

const TYPE_HEAD: Record<EventType, Buffer> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
};
const BOOKMARK_HEAD = Buffer.from('{"type":"BOOKMARK","object":');
const ERROR_HEAD = Buffer.from('{"type":"ERROR","object":');
const TAIL = Buffer.from('}\n');

/** One line of a JSON stream around the bytes of an object. */
export function jsonFrame(type: EventType | 'BOOKMARK' | 'ERROR', object: Buffer): Buffer {
  const head = type === 'BOOKMARK' ? BOOKMARK_HEAD : type === 'ERROR' ? ERROR_HEAD : TYPE_HEAD[type];
  const end = object[object.length - 1] === 0x0a ? object.length - 1 : object.length;
  return Buffer.concat([head, object.subarray(0, end), TAIL]);
}

/** The plain form: stored bytes as they are. `zeroObject` encodes an object of the kind that has nothing but this metadata. */
export function storedJsonForm(id: string, zeroObject: (metadata: Record<string, unknown>) => Buffer): WatchForm {
  return {
    id,
    event: (type, object) => jsonFrame(type, object.bytes),
    bookmark: (revision, initialEventsEnd) => jsonFrame('BOOKMARK', zeroObject(bookmarkMetadata(revision, initialEventsEnd))),
    error: (status) => jsonFrame('ERROR', Buffer.from(JSON.stringify(status))),
  };
}

export function bookmarkMetadata(revision: number, initialEventsEnd: boolean): Record<string, unknown> {
  return { resourceVersion: String(revision), ...(initialEventsEnd && { annotations: { [INITIAL_EVENTS_END]: 'true' } }) };
}
