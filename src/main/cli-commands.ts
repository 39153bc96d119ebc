import type { ParseArgsOptionsConfig } from 'node:util';
import type { CommandDefinition, Result } from '../features/commands.ts';
import { oneOf, optional, required, several, UsageError, type Values } from '../features/commands.ts';
import { MODES, SCOPES } from '../kernel/access.ts';
import { dateFromMs } from '../kernel/clock.ts';
import type { Plan } from '../kernel/plans.ts';
import { VALUES } from '../platform/db/tables.generated.ts';
import { contentCommands } from './cli-content.ts';
import { maintenanceCommands } from './cli-maintenance.ts';
import { remoteCommands } from './cli-webhooks.ts';
import type { Container } from './container.ts';
import { DECLARATIONS } from './declarations.ts';

const OPTIONS: ParseArgsOptionsConfig = {
  email: { type: 'string' },
  password: { type: 'string' },
  name: { type: 'string' },
  username: { type: 'string' },
  plan: { type: 'string' },
  role: { type: 'string' },
  unverified: { type: 'boolean' },
  suspended: { type: 'boolean' },
  match: { type: 'string' },
  account: { type: 'string' },
  scope: { type: 'string' },
  permission: { type: 'string', multiple: true },
  mode: { type: 'string' },
  'rate-limit': { type: 'string' },
  'daily-quota': { type: 'string' },
  'expires-at': { type: 'string' },
  'allow-ip': { type: 'string', multiple: true },
  'allow-domain': { type: 'string', multiple: true },
  id: { type: 'string' },
  'forward-to': { type: 'string' },
  events: { type: 'string' },
  'print-secret': { type: 'boolean' },
  payload: { type: 'string' },
  reason: { type: 'string' },
  to: { type: 'string' },
  from: { type: 'string' },
  keep: { type: 'string' },
  url: { type: 'string' },
  key: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
};

interface Command {
  usage: string;
  run(container: Container, values: Values, migrated: string[]): Promise<Result>;
}

function positive(values: Values, name: string): number | undefined {
  const value = optional(values, name);
  if (value === undefined) return undefined;
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new UsageError(`--${name} must be a positive whole number`);
  return number;
}

function instant(values: Values, name: string): Date | undefined {
  const value = optional(values, name);
  if (value === undefined) return undefined;
  try {
    return dateFromMs(Temporal.Instant.from(value).epochMilliseconds);
  } catch {
    throw new UsageError(`--${name} must be a date-time, such as 2027-01-31T00:00:00Z`);
  }
}

const accountCreate: Command = {
  usage:
    'account create --email E --password P [--name N] [--username U] [--plan FREE|STAR|PRO|VIP] [--role USER|ADMIN] [--unverified]',
  async run({ accounts }, values) {
    const account = await accounts.create({
      email: required(values, 'email'),
      password: required(values, 'password'),
      verified: values.unverified !== true,
      name: optional(values, 'name'),
      username: optional(values, 'username'),
      plan: oneOf(values, 'plan', VALUES.account.plan),
      role: oneOf(values, 'role', VALUES.account.role),
    });
    return { data: account, text: `created ${account.email} (${account.id}, ${account.username})` };
  },
};

const accountList: Command = {
  usage: 'account list [--plan FREE|STAR|PRO|VIP] [--role USER|ADMIN] [--suspended] [--match TEXT]',
  async run({ accounts }, values) {
    const rows = await accounts.list({
      plan: oneOf(values, 'plan', VALUES.account.plan),
      role: oneOf(values, 'role', VALUES.account.role),
      isSuspended: values.suspended === true ? true : undefined,
      match: optional(values, 'match'),
    });
    return {
      data: rows.map((row) => ({
        id: row.id,
        email: row.email,
        username: row.username,
        name: row.name,
        role: row.role,
        plan: row.plan,
        emailVerified: row.email_verified_at !== null,
        suspended: row.suspended_at !== null,
        createdAt: row.created_at.toISOString(),
      })),
      text: rows.map((row) => `${row.id}  ${row.plan.padEnd(4)}  ${row.email}`).join('\n'),
    };
  },
};

const accountInvite: Command = {
  usage: 'account invite --email E',
  async run({ auth }, values) {
    const { expiresAt, ...invite } = await auth.registration.invite(required(values, 'email'));
    return {
      data: { ...invite, expiresAt: expiresAt.toISOString() },
      text: `${invite.url}   (for ${invite.email}, single use, valid until ${expiresAt.toISOString()})`,
    };
  },
};

function accountChange(
  verb: string,
  done: string,
  change: (container: Container, email: string, values: Values) => Promise<void>,
  options = '',
): Command {
  return {
    usage: `account ${verb} --email E${options}`,
    async run(container, values) {
      const email = required(values, 'email');
      await change(container, email, values);
      const { id } = await container.accounts.byEmail(email);
      container.apiKeys.forget();
      return { data: { id, email }, text: `${done} ${email}` };
    },
  };
}

const setPlan = (container: Container, email: string, values: Values) => {
  const plan: Plan | undefined = oneOf(values, 'plan', VALUES.account.plan);
  if (plan === undefined) throw new UsageError('--plan is required');
  return container.accounts.setPlan(email, plan);
};

const keyCreate: Command = {
  usage:
    'key create --account EMAIL --scope READ_ONLY|STANDARD|FULL_ACCESS [--name N] [--permission P]… [--mode live|test] [--rate-limit N] [--daily-quota N] [--expires-at ISO] [--allow-ip CIDR]… [--allow-domain D]…',
  async run({ apiKeys }, values) {
    const scope = oneOf(values, 'scope', SCOPES);
    if (scope === undefined) throw new UsageError('--scope is required');
    const made = await apiKeys.create({
      email: required(values, 'account'),
      scope,
      permissions: several(values, 'permission'),
      ipAllowlist: several(values, 'allow-ip'),
      domainAllowlist: several(values, 'allow-domain'),
      name: optional(values, 'name'),
      mode: oneOf(values, 'mode', MODES),
      rateLimitPerMinute: positive(values, 'rate-limit'),
      dailyQuota: positive(values, 'daily-quota'),
      expiresAt: instant(values, 'expires-at'),
    });
    return { data: made, text: `${made.key}   (${made.id}; shown only once)` };
  },
};

const keyList: Command = {
  usage: 'key list [--account EMAIL]',
  async run({ apiKeys }, values) {
    const rows = await apiKeys.list(optional(values, 'account'));
    return {
      data: rows.map((row) => ({
        id: row.id,
        account: row.email,
        name: row.name,
        prefix: row.prefix,
        last4: row.last4,
        scope: row.scope,
        permissions: row.permissions,
        mode: row.mode,
        expiresAt: row.expires_at?.toISOString() ?? null,
        revokedAt: row.revoked_at?.toISOString() ?? null,
        createdAt: row.created_at.toISOString(),
      })),
      text: rows
        .map((row) => `${row.id}  ${row.prefix}…${row.last4}  ${row.scope}  ${row.mode}  ${row.email}`)
        .join('\n'),
    };
  },
};

const keyRevoke: Command = {
  usage: 'key revoke --id KEY_ID',
  async run({ apiKeys }, values) {
    const id = required(values, 'id');
    await apiKeys.revoke(id);
    return { data: { id, revoked: true }, text: `revoked ${id}` };
  },
};

const mailList: Command = {
  usage: 'mail list',
  async run({ mailbox }) {
    const mails = await mailbox.list();
    return {
      data: mails.map(({ createdAt, ...mail }) => ({ ...mail, createdAt: createdAt.toISOString() })),
      text: mails
        .map(({ id, status, to, subject }) => `${id}  ${status.padEnd(6)}  ${to}  ${subject}`)
        .join('\n'),
    };
  },
};

const mailShow: Command = {
  usage: 'mail show --id MAIL_ID',
  async run({ mailbox }, values) {
    const { createdAt, ...mail } = await mailbox.get(required(values, 'id'));
    return {
      data: { ...mail, createdAt: createdAt.toISOString() },
      text: `To: ${mail.to}\nSubject: ${mail.subject}\n\n${mail.text ?? '(sent to the SMTP server)'}`,
    };
  },
};

const migrateCommand: Command = {
  usage: 'migrate',
  run: async (_container, _values, migrated) => ({
    data: { applied: migrated },
    text: migrated.length === 0 ? 'database is up to date' : `applied ${migrated.join(', ')}`,
  }),
};

const coreCommands: readonly [name: string, command: Command][] = [
  ['account create', accountCreate],
  ['account list', accountList],
  ['account invite', accountInvite],
  [
    'account suspend',
    accountChange('suspend', 'suspended', ({ accounts }, email) => accounts.suspend(email)),
  ],
  [
    'account unsuspend',
    accountChange('unsuspend', 'unsuspended', ({ accounts }, email) => accounts.unsuspend(email)),
  ],
  ['account verify', accountChange('verify', 'verified', ({ accounts }, email) => accounts.verify(email))],
  [
    'account set-plan',
    accountChange('set-plan', 'changed the plan of', setPlan, ' --plan FREE|STAR|PRO|VIP'),
  ],
  ['key create', keyCreate],
  ['key list', keyList],
  ['key revoke', keyRevoke],
  ...contentCommands,
  ['mail list', mailList],
  ['mail show', mailShow],
  ['migrate', migrateCommand],
];

/** Commands that features declare and run. */
const featureCommands: readonly CommandDefinition[] = DECLARATIONS.flatMap(({ commands = [] }) => commands);

export const options: ParseArgsOptionsConfig = {
  ...OPTIONS,
  ...Object.fromEntries(
    featureCommands.flatMap((command) => command.options ?? []).map((name) => [name, { type: 'string' }]),
  ),
};

function toCommand(definition: CommandDefinition): [name: string, command: Command] {
  const { name, usage } = definition;
  const run: Command['run'] = async ({ modules }, values) => {
    const runners = modules.flatMap((module) => module.commands?.() ?? []);
    const runner = runners.find(({ command }) => command === definition);
    if (runner === undefined) throw new Error(`no handler for command "${name}"`);
    return runner.run(values);
  };
  return [name, { usage, run }];
}

export const commands: ReadonlyMap<string, Command> = new Map([
  ...coreCommands,
  ...featureCommands.map(toCommand),
]);

export function usage(): string {
  const all = [...commands.values(), ...maintenanceCommands.values(), ...remoteCommands.values()];
  const lines = all.map((command) => `  marquee ${command.usage} [--json]`);
  return `Usage:\n${lines.join('\n')}\n\nmarquee is "node scripts/marquee.mjs" in the checkout. Uses the database at DATABASE_URL, or the embedded one in DATA_DIR (./data).\n`;
}
