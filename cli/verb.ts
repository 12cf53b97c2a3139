/**
 * What a verb of the command line is: its flags as a table, its help, and a function. One file per verb in `commands/`, loaded only when it is called.
 * Mirrors cobra's Command; the flag tables follow kubectl's names, shorthands and defaults.
 */
import type { Flags, FlagTable } from './flags.ts';
import type { Session } from './session.ts';

export interface VerbEntry {
  readonly summary: string;
  /** Which heading of the help it stands under. */
  readonly section?: string;
  readonly load: () => Promise<Verb>;
}

export interface Verb {
  /** What follows the verb's name: `(TYPE [NAME] | TYPE/NAME) [options]`. */
  readonly usage: string;
  readonly flags?: FlagTable;
  /** Sub-verbs, as of `rollout` and `create`. With `run` as well, an unknown first word is an argument of `run`. */
  readonly verbs?: Readonly<Record<string, VerbEntry>>;
  /** All words and flags after the verb's name are handed over unparsed (the components, which have flag tables of their own). */
  readonly passThrough?: boolean;
  /** Resolves with the exit code, if it is a number; anything else means 0. */
  readonly run?: (session: Session, args: readonly string[], flags: Flags) => Promise<unknown>;
}

/** The name of the program in messages and help. */
export const PROGRAM = 'flyball';
