import { runCommandLine } from '../../src/main/command-line.ts';
import { SECRET_KEY, type TestApp } from './app.ts';
import { recordDatabaseEvents } from './contract-coverage.ts';

/** Environment of a command line in tests: with the compile cache it starts in half the time. */
export const BARE_ENVIRONMENT: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
};

/** Exit status and output of a command. */
export interface CommandOutcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs the operator's command line on the database and with the secret key of a server that runs: all of it, but in
 * the process of the test, which spares a second for each command.
 */
export async function runCommand(app: TestApp, args: string[]): Promise<CommandOutcome> {
  const environment = {
    ...BARE_ENVIRONMENT,
    DATABASE_URL: app.databaseUrl,
    DATA_DIR: app.container.config.DATA_DIR,
    SECRET_KEY: SECRET_KEY.toString('hex'),
  };
  const outcome = { stdout: '', stderr: '' };
  const into = (name: keyof typeof outcome) => ({
    write(text: string) {
      outcome[name] += text;
    },
  });
  const run = () => runCommandLine(args, { stdout: into('stdout'), stderr: into('stderr') }, environment);
  const code = await recordDatabaseEvents(app.container.sql, run);
  return { code, ...outcome };
}

/**
 * @returns the command's output. @throws {Error} with `code` and `stderr` when it exits with another status
 *   than 0.
 */
export async function commandLine(app: TestApp, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(app, args);
  if (code !== 0) throw Object.assign(new Error(stderr), { code, stderr });
  return stdout;
}
