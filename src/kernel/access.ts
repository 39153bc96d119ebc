import { MINUTE_MS } from './durations.ts';
import type { Plan } from './plans.ts';

/** Scope of a key: an upper bound independent of its permissions. */
export const SCOPES = ['READ_ONLY', 'STANDARD', 'FULL_ACCESS'] as const;
export type Scope = (typeof SCOPES)[number];

/** Which of the two workspaces of an account a key belongs to. */
export const MODES = ['live', 'test'] as const;
export type Mode = (typeof MODES)[number];

const ACTIONS = ['read', 'write', '*'] as const;
const RESOURCES = [
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

export type Permission = `${(typeof RESOURCES)[number]}:${(typeof ACTIONS)[number]}` | '*';

/** Every permission that a key can hold. */
export const PERMISSIONS: readonly Permission[] = [
  ...RESOURCES.flatMap((noun) => ACTIONS.map((action) => `${noun}:${action}` as const)),
  '*',
];

/** Properties that determine the permissions of a key. */
export interface Authority {
  scope: Scope;
  /** Stored permissions; an obsolete one grants nothing. Empty: everything outside finance. */
  permissions: readonly string[];
}

/** Role of a person in the team of an account (docs/concepts/team.md#roles). */
export const TEAM_ROLES = ['OWNER', 'ADMIN', 'EDITOR', 'ANALYST'] as const;
export type TeamRole = (typeof TEAM_ROLES)[number];

/** API key of a program. */
export interface KeyActor {
  kind: 'key';
  id: string;
  /** The person who made it, by the account of their own. */
  userId: string;
}

/** A person who has signed in to the dashboard (docs/decisions/authentication.md#sessions). */
export interface SessionActor {
  kind: 'session';
  id: string;
  /** The account of their own. */
  userId: string;
  /** It acts for that account, not for one of a team that they are in. */
  isOwner: boolean;
  /** The role of their account on the platform. */
  role: 'USER' | 'ADMIN';
  /** When the password was last checked, epoch milliseconds. */
  passwordCheckedMs: number;
}

/** Time for which a password confirmation is valid. */
export const PASSWORD_CONFIRMATION_TTL_MS = 10 * MINUTE_MS;

export type Actor = KeyActor | SessionActor;

/**
 * The acting party and the workspace it acts for; every service takes it, or its `workspaceId`, as the first
 * argument.
 */
export interface Caller extends Authority {
  workspaceId: string;
  accountId: string;
  actor: Actor;
  mode: Mode;
  plan: Plan;
  rateLimitPerMinute: number;
  dailyQuota: number | null;
}

/** The member of the team who acts, by the id of the user; null for the owner, and for keys. */
export function teamMemberIdOf({ actor }: Pick<Caller, 'actor'>): string | null {
  return actor.kind === 'session' && !actor.isOwner ? actor.userId : null;
}

/** Reads of the caller's own content, which every key may do unless its list names one of them. */
const CONTENT_READS: readonly string[] = [
  'videos:read',
  'streams:read',
  'restreams:read',
  'rooms:read',
] satisfies Permission[];

/** Reports whether it is the read of the caller's own content, which most keys hold without naming it. */
export function isContentRead(permission: string): boolean {
  return CONTENT_READS.includes(permission);
}

/** In a list of permissions: grants nothing, not even what an empty list or an implied read grants. */
const NOTHING = 'none';

/** Reports whether a list of permissions leaves every read of the caller's own content open. */
function impliesContentReads(permissions: readonly string[]): boolean {
  return !permissions.some((permission) => permission === NOTHING || isContentRead(permission));
}

/**
 * Reports whether the key has the permission (docs/decisions/authorization.md#permissions). Whether its scope lets it
 * write is a separate question: `mayWrite`.
 */
export function hasPermission({ scope, permissions }: Authority, permission: Permission): boolean {
  if (scope === 'FULL_ACCESS') return true;
  const [noun, action] = permission.split(':');
  if (permissions.length === 0) return permission !== '*' && noun !== 'finance';
  return (
    permissions.includes(permission) ||
    permissions.includes('*') ||
    permissions.includes(`${noun}:*`) ||
    (action === 'read' && permissions.includes(`${noun}:write`)) ||
    (isContentRead(permission) && impliesContentReads(permissions))
  );
}

/**
 * Permissions of each role, in addition to those reserved for an owner's session
 * (docs/concepts/team.md#roles).
 */
const CONTENT: readonly (typeof RESOURCES)[number][] = [
  'videos',
  'streams',
  'restreams',
  'rooms',
  'chat',
  'playlists',
  'imports',
  'upload',
];

const everything: Authority = { scope: 'FULL_ACCESS', permissions: [] };

export const ROLE_PERMISSIONS: Readonly<Record<TeamRole, Authority>> = {
  OWNER: everything,
  ADMIN: everything,
  EDITOR: {
    scope: 'STANDARD',
    permissions: RESOURCES.filter((noun) => noun !== 'finance').map((noun) =>
      CONTENT.includes(noun) ? `${noun}:*` : `${noun}:read`,
    ),
  },
  ANALYST: { scope: 'READ_ONLY', permissions: [] },
};

/** Reports whether `outer` includes all permissions of `inner`. */
export function includesAuthority(outer: Authority, inner: Authority): boolean {
  return (
    SCOPES.indexOf(outer.scope) >= SCOPES.indexOf(inner.scope) &&
    PERMISSIONS.every((permission) => hasPermission(outer, permission) || !hasPermission(inner, permission))
  );
}

/** Returns what both of them may do. */
export function intersect(a: Authority, b: Authority): Authority {
  const scope = SCOPES[Math.min(SCOPES.indexOf(a.scope), SCOPES.indexOf(b.scope))] ?? 'READ_ONLY';
  if (a.scope === 'FULL_ACCESS') return { scope, permissions: b.permissions };
  if (b.scope === 'FULL_ACCESS') return { scope, permissions: a.permissions };
  if (a.permissions.length + b.permissions.length === 0) return { scope, permissions: [] };
  const permissions = PERMISSIONS.filter(
    (permission) => hasPermission(a, permission) && hasPermission(b, permission),
  );
  return { scope, permissions: impliesContentReads(permissions) ? [...permissions, NOTHING] : permissions };
}

/** The id of the key that acts; null where a person does. */
export function keyIdOf({ actor }: Pick<Caller, 'actor'>): string | null {
  return actor.kind === 'key' ? actor.id : null;
}

/** Reports whether the key has the permission and may write. */
export function mayWrite(key: Authority, permission: Permission): boolean {
  return key.scope !== 'READ_ONLY' && hasPermission(key, permission);
}

/**
 * Returns the permissions that a list grants: the named ones and the reads they imply; for an empty list,
 * all.
 */
export function expandPermissions(permissions: readonly string[]): readonly Permission[] {
  const isEmpty = permissions.length === 0;
  return PERMISSIONS.filter(
    (permission) =>
      permissions.includes(permission) ||
      ((isEmpty || isContentRead(permission)) &&
        hasPermission({ scope: 'STANDARD', permissions }, permission)),
  );
}
