import { parseArgs } from 'node:util';
import type { Result } from '../features/commands.ts';
import { UsageError, type Values } from '../features/commands.ts';
import { AppError } from '../kernel/errors.ts';
import { type Config, ConfigError, loadConfig } from '../platform/config.ts';
import { inBackground, WORKING } from '../platform/db/deadline.ts';
import { migrate } from '../platform/db/migrate.ts';
import { loadSecretKey } from '../platform/secrets.ts';
import { commands, options, usage } from './cli-commands.ts';
import { type MaintenanceCommand, maintenanceCommands } from './cli-maintenance.ts';
import { remoteCommands } from './cli-webhooks.ts';
import { createContainer } from './container.ts';
import { connectOrStartServer, type Disposers } from './database-server.ts';
import { describeStartupError } from './describe-error.ts';
import { notifyMigrated } from './lifecycle.ts';

/** Output streams of a command. */
interface Terminal {
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown };
}

/**
 * Runs the operator's command line: `marquee <noun> <verb> [options]`, on the database that the server uses.
 *
 * @param environment default: that of the process.
 * @returns the exit status: 0, 1 for a failure or a found problem, 2 for an invalid command.
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
    terminal.stderr.write(`marquee: ${describeStartupError(error)}${field}\n`);
    if (error instanceof UsageError) terminal.stderr.write(`\n${usage()}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** @returns false when the command found a problem. */
async function run(args: string[], { stdout }: Terminal, environment?: NodeJS.ProcessEnv): Promise<boolean> {
  const { values, positionals } = parse(args);
  const name = positionals.join(' ');
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
  const command = maintenanceCommands.get(name) ?? onContainer(name);
  const closers: Disposers = [];
  try {
    const result = await inBackground(() => outcomeOf(command, values, closers, environment));
    stdout.write(`${values.json === true ? JSON.stringify(result.data) : result.text}\n`);
    return result.isBad !== true;
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

async function outcomeOf(
  command: MaintenanceCommand,
  values: Values,
  closers: Disposers,
  environment?: NodeJS.ProcessEnv,
): Promise<Result> {
  let config: Config;
  try {
    config = loadConfig(environment);
  } catch (error) {
    if (command.refused === undefined || !(error instanceof ConfigError)) throw error;
    return command.refused(error.message);
  }
  return command.run(config, values, closers);
}

/** A command that the whole program does. */
function onContainer(name: string): MaintenanceCommand {
  const command = commands.get(name);
  if (command === undefined) throw new UsageError(`unknown command "${name}"`);
  return {
    usage: command.usage,
    async run(config, values, closers) {
      const databaseUrl = await connectOrStartServer(config, closers);
      const secretKey = await loadSecretKey(config);
      const silent = { ...config, LOG_LEVEL: 'silent' } as const;
      const settings = { config: silent, databaseUrl, secretKey, bounds: WORKING, name: 'cli' };
      const container = await createContainer(settings);
      closers.push(() => container.close());
      const migrated = await migrate(container.sql);
      await notifyMigrated(container.modules);
      return command.run(container, values, migrated);
    },
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
