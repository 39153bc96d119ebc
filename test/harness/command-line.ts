import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SECRET_KEY, type TestApp } from './app.ts';

/** What a command line has of the environment of its test: with the cache of compiled files it starts in half the time. */
export const BARE_ENVIRONMENT: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
};

const CLI = join(import.meta.dirname, '../../src/main/cli.ts');

/**
 * Runs the operator's command line on the database and with the secret key of a server that runs.
 *
 * @returns what it prints. @throws {Error} when it ends with another status than 0.
 */
export async function commandLine(app: TestApp, ...args: string[]): Promise<string> {
  const { host, port, database, user, pass } = app.container.sql.options;
  const command = ['--disable-warning=ExperimentalWarning', CLI, ...args];
  const { stdout } = await promisify(execFile)(process.execPath, command, {
    env: {
      ...BARE_ENVIRONMENT,
      DATABASE_URL: `postgres://${user}:${String(pass)}@${host[0]}:${port[0]}/${database}`,
      DATA_DIR: app.container.config.DATA_DIR,
      SECRET_KEY: SECRET_KEY.toString('hex'),
    },
  });
  return stdout;
}
