import { parseArgs } from 'node:util';
import { AppError } from '../kernel/errors.ts';
import { loadConfig } from '../platform/config.ts';
import { readEmbeddedUrl, startEmbeddedPostgres } from '../platform/db/embedded.ts';
import { migrate } from '../platform/db/migrate.ts';
import { acquireInstanceLock } from '../platform/instance-lock.ts';
import { createLogger } from '../platform/logger.ts';
import { loadSecretKey } from '../platform/secrets.ts';
import { commands, options, usage } from './cli-commands.ts';
import { UsageError } from './cli-values.ts';
import { remoteCommands } from './cli-webhooks.ts';
import { createContainer } from './container.ts';
import { describeFailure } from './failure.ts';
import { tellMigrated } from './services.ts';

/** Where a command prints. */
interface Terminal {
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown };
}

/**
 * The operator's command line: `marquee <noun> <verb> [options]`, on the database that the server uses.
 *
 * @param environment default: that of the process.
 * @returns the exit status: 0, 1 for what did not work or is not in order, 2 for what is no command.
 */
export async function runCommandLine(
  args: string[],
  terminal: Terminal,
  environment?: NodeJS.ProcessEnv,
): Promise<number> {
  try {
    return (await run(args, terminal, environment)) ? 0 : 1;
  } catch (error) {
    const field = error instanceof AppError && error.field !== undefined ? ` (${error.field})` : '';
    terminal.stderr.write(`marquee: ${describeFailure(error)}${field}\n`);
    if (error instanceof UsageError) terminal.stderr.write(`\n${usage()}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** @returns false for a command that found what is wrong. */
async function run(args: string[], { stdout }: Terminal, environment?: NodeJS.ProcessEnv): Promise<boolean> {
  const { values, positionals } = parse(args);
  const name = positionals.join(' ');
  const command = commands.get(name);
  if (values.help === true || name === '' || name === 'help') {
    stdout.write(usage());
    return true;
  }
  const [noun, verb, ...rest] = positionals;
  const remote = remoteCommands.get(`${noun} ${verb}`);
  if (remote !== undefined) {
    await remote.run(loadConfig(environment), values, rest);
    return true;
  }
  if (command === undefined) throw new UsageError(`unknown command "${name}"`);
  const config = loadConfig(environment);
  const closers: (() => Promise<void> | void)[] = [];
  try {
    const databaseUrl = config.DATABASE_URL ?? readEmbeddedUrl(config.DATA_DIR) ?? (await ownServer());
    const secretKey = await loadSecretKey(config);
    const settings = { config: { ...config, LOG_LEVEL: 'silent' }, databaseUrl, secretKey, name: 'cli' };
    const container = await createContainer(settings);
    closers.push(() => container.close());
    const migrated = await migrate(container.sql);
    await tellMigrated(container.parts);
    const result = await command.run(container, values, migrated);
    const text = values.json === true ? JSON.stringify(result.data) : result.text;
    stdout.write(`${text}\n`);
    return result.isBad !== true;
  } finally {
    for (const close of closers.reverse()) await close();
  }

  // The server is not running: the command starts the database for its own time.
  async function ownServer(): Promise<string> {
    const lock = acquireInstanceLock(config.DATA_DIR);
    closers.push(() => lock.release());
    const postgres = await startEmbeddedPostgres({
      dataDir: config.DATA_DIR,
      log: createLogger('silent'),
    });
    closers.push(() => postgres.stop());
    return postgres.url;
  }
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
