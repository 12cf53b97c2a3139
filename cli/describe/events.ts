/** The events under a description. */
import type { Event } from '../../machinery/api/types/core.v1.ts';
import { interval } from '../commands/events.ts';
import type { DescribeContext } from './describer.ts';
import type { DescriptionWriter } from './writer.ts';

export function describeEvents(w: DescriptionWriter, { events, session }: DescribeContext): void {
  if (!events) return;
  if (events.length === 0) {
    w.line(0, 'Events:\t<none>');
    return;
  }
  w.flush();
  w.line(0, 'Events:');
  w.line(1, 'Type\tReason\tAge\tFrom\tMessage');
  w.line(1, '----\t------\t----\t----\t-------');
  for (const event of events) w.line(1, row(event, session.now()));
}

function row(event: Event, now: Date): string {
  const from = event.source?.component || event.reportingComponent || '';
  const message = (event.message ?? '').trim();
  const { fieldPath } = event.involvedObject ?? {};
  return [event.type ?? '', event.reason ?? '', interval(event, now), from, fieldPath ? `${fieldPath}: ${message}` : message].join('\t');
}
