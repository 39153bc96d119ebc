import { MINUTE_MS } from './durations.ts';
import type { Plan } from './plans.ts';

/** What a key may do at all, whatever its permissions say. */
export const SCOPES = ['READ_ONLY', 'STANDARD', 'FULL_ACCESS'] as const;
export type Scope = (typeof SCOPES)[number];

/** Which of the two workspaces of an account a key belongs to. */
export const MODES = ['live', 'test'] as const;
export type Mode = (typeof MODES)[number];

const ACTIONS = ['read', 'write', '*'] as const;
const NOUNS = [
  'profile',
  'videos',
  'streams',
  'restreams',
  'rooms',
  'chat',
  'booking',
  'playlists',
  'subscribers',
  'imports',
  'upload',
  'webhooks',
  'events',
  'domains',
  'team',
  'support',
  'finance',
] as const;

export type Permission = `${(typeof NOUNS)[number]}:${(typeof ACTIONS)[number]}` | '*';

/** Every permission that a key can hold. */
export const PERMISSIONS: readonly Permission[] = [
  ...NOUNS.flatMap((noun) => ACTIONS.map((action) => `${noun}:${action}` as const)),
  '*',
];

/** What decides about the permissions of a key. */
export interface Authority {
  scope: Scope;
  /** As stored; one that is not known any more grants nothing. Empty: everything outside finance. */
  permissions: readonly string[];
}

/** An API key, which a program holds. */
export interface KeyActor {
  kind: 'key';
  id: string;
}

/** A person who has signed in to the dashboard (docs/decisions/authentication.md#sessions). */
export interface SessionActor {
  kind: 'session';
  id: string;
  /** The role of the account on the platform. */
  role: 'USER' | 'ADMIN';
  /** When the password was last checked, epoch milliseconds. */
  passwordCheckedMs: number;
}

/** So long a checked password is good for what wants one. */
export const FRESH_PASSWORD_MS = 10 * MINUTE_MS;

export type Actor = KeyActor | SessionActor;

/** Who acts, and for whom; every service takes it, or its `workspaceId`, first. */
export interface Caller extends Authority {
  workspaceId: string;
  accountId: string;
  actor: Actor;
  mode: Mode;
  plan: Plan;
  rateLimitPerMinute: number;
  dailyQuota: number | null;
}

/**
 * Does the key hold the permission? Writing includes reading; a noun's `*` is more than its parts. Whether the
 * scope lets the key write is another question: `mayWrite`.
 */
export function holds({ scope, permissions }: Authority, permission: Permission): boolean {
  if (scope === 'FULL_ACCESS') return true;
  const [noun, action] = permission.split(':');
  if (permissions.length === 0) return permission !== '*' && noun !== 'finance';
  return (
    permissions.includes(permission) ||
    permissions.includes('*') ||
    permissions.includes(`${noun}:*`) ||
    (action === 'read' && permissions.includes(`${noun}:write`))
  );
}

/** The id of the key that acts; null where a person does. */
export function keyIdOf({ actor }: Pick<Caller, 'actor'>): string | null {
  return actor.kind === 'key' ? actor.id : null;
}

/** May the key do what the permission names, writes included? */
export function mayWrite(key: Authority, permission: Permission): boolean {
  return key.scope !== 'READ_ONLY' && holds(key, permission);
}

/** What a list of permissions names; an empty one is every permission outside finance. */
export function spelledOut(permissions: readonly string[]): readonly Permission[] {
  const isEmpty = permissions.length === 0;
  return PERMISSIONS.filter((permission) =>
    isEmpty ? holds({ scope: 'STANDARD', permissions }, permission) : permissions.includes(permission),
  );
}
