/** `npm test`: static checks, then unit and API tests, then end to end. */
import { runSteps, staticSteps, testStep } from './steps.ts';

const code = await runSteps([
  ...staticSteps(),
  ...testStep('unit and API tests', ['{src,test,scripts,sdk,bench,web}/**/*.test.ts'], {
    exclude: ['test/dependency-rules/**', 'test/repository/**', 'node_modules/**'],
    concurrency: 2,
    timeoutMs: 540_000,
  }),
  ...testStep('end to end', ['e2e/**/*.test.ts'], { concurrency: 1, timeoutMs: 480_000 }),
]);
process.exit(code);
