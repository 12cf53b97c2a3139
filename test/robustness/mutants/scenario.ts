/** A small story in which one seeded bug shows: right code passes it without a violation, the bug does not. */
import { armFailpoints } from '../../../machinery/process/failpoints.ts';
import { armMutants, type MutantName } from '../../../machinery/process/mutants.ts';

export interface Scenario {
  readonly mutant: MutantName;
  /** Of docs/guarantees.md. */
  readonly guarantee: string;
  /** The violations of that guarantee, in words. */
  run(): Promise<string[]>;
}

const open: (() => Promise<unknown>)[] = [];

/** What a story has opened is closed when it has ended, also in the middle. Closing twice must be harmless. */
export function closeLater(close: () => Promise<unknown>): void {
  open.push(close);
}

/** Throws what the story throws. */
export async function played(scenario: Scenario): Promise<string[]> {
  try {
    return await scenario.run();
  } finally {
    armFailpoints('');
    for (const close of open.splice(0)) await close().catch(() => undefined);
  }
}

/** With the bug in: that the story cannot be played to its end is a finding, too. */
export async function playedWithBug(scenario: Scenario): Promise<string[]> {
  armMutants(scenario.mutant);
  try {
    return await played(scenario);
  } catch (error) {
    return [`it ended by ${error}`];
  } finally {
    armMutants();
  }
}
