/**
 * The API server under more than it can serve: `node --import tsx scripts/bench/overload.ts`. Figures of memory, delays and recovery, and which bound
 * was broken; takes some minutes.
 */
import { attackByOverload } from '../../test/robustness/overload/attack.ts';
import { table } from '../../test/robustness/run.ts';

const findings = await attackByOverload(console.log);
console.log(`\n${table(findings)}\n`);
process.exitCode = findings.some(({ violations }) => violations.length > 0) ? 1 : 0;
