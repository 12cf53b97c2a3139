/** Structured logs: pino JSON on stderr, a constant message, lowerCamelCase keys. */
import { destination, type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

/** `verbosity` as upstream's -v: 0 info, 4 debug, 6 trace. */
export function createLogger(name: string, verbosity = 0): Logger {
  const level = verbosity >= 6 ? 'trace' : verbosity >= 4 ? 'debug' : 'info';
  return pino({ name, level, base: { component: name, pid: process.pid } }, destination({ fd: 2, sync: true }));
}

export const silentLogger: Logger = pino({ level: 'silent' });
