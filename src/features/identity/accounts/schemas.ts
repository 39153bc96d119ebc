import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, NullableObject, OneOf } from '../../../http/schema.ts';
import { type Caller, MODES, SCOPES } from '../../../kernel/access.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { ProfileRow } from './profile.repository.ts';

namedSchema('Plan', OneOf(VALUES.account.plan));
namedSchema('EmbedMode', OneOf(VALUES.account.embed_mode));

const profile = {
  id: IdOf('usr'),
  email: Type.String(),
  emailVerified: Type.Boolean(),
  name: Nullable(Type.String()),
  username: Type.String(),
  role: OneOf(VALUES.account.role),
  plan: OneOf(VALUES.account.plan),
  avatarUrl: Nullable(Type.String()),
  bio: Nullable(Type.String()),
  locale: Type.String(),
  timezone: Type.String(),
  twoFactorEnabled: Type.Boolean(),
  createdAt: Instant,
};

const EXAMPLE = {
  id: 'usr_01kafe3n4pfx2v9yq6m8d7t5zr',
  email: 'ada@example.com',
  emailVerified: true,
  name: 'Ada Lovelace',
  username: 'ada',
  role: 'USER' as const,
  plan: 'PRO' as const,
  avatarUrl: 'https://video.example.com/avatars/ava_01kafe3n4pfx2v9yq6m8d7t5zr.webp',
  bio: null,
  locale: 'en-GB',
  timezone: 'Europe/London',
  twoFactorEnabled: false,
  createdAt: '2026-11-20T09:00:00.000Z',
};

/** Account as shown to a session of its owner. */
export const Profile = namedSchema('Profile', Type.Object(profile), EXAMPLE);

const CallingKey = Type.Object({
  id: IdOf('key'),
  name: Type.String(),
  scope: OneOf(SCOPES),
  permissions: Type.Array(Type.String()),
  mode: OneOf(MODES),
  expiresAt: Nullable(Instant),
});

export const Me = namedSchema('Me', Type.Object({ ...profile, key: NullableObject(CallingKey) }), {
  ...EXAMPLE,
  key: {
    id: 'key_01kafe3n4pfx2v9yq6m8d7t5zr',
    name: 'Backend',
    scope: 'STANDARD',
    permissions: [],
    mode: 'live',
    expiresAt: null,
  },
});

export const MePatch = namedSchema(
  'MeUpdate',
  Type.Object({
    name: Type.Optional(Nullable(Type.String({ maxLength: 120 }))),
    bio: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
    locale: Type.Optional(
      Type.String({ maxLength: 35, description: 'BCP 47 language tag, such as `en-GB`.' }),
    ),
    timezone: Type.Optional(
      Type.String({ maxLength: 64, description: 'IANA time zone, such as `Europe/Berlin`.' }),
    ),
    username: Type.Optional(
      Type.String({ maxLength: 39, description: '2 to 39 characters: a-z, 0-9, "_" and "-".' }),
    ),
  }),
  { name: 'Ada Lovelace', timezone: 'Europe/London' },
);

export const AvatarIn = namedSchema(
  'AvatarSet',
  Type.Object({
    url: Type.Optional(
      Type.String({ maxLength: 2048, description: 'Publicly routable HTTPS URL; fetched once.' }),
    ),
  }),
  { url: 'https://example.com/me.png' },
);

export const Avatar = namedSchema(
  'Avatar',
  Type.Object({ avatarUrl: Nullable(Type.String()), updatedAt: Nullable(Instant) }),
  {
    avatarUrl: 'https://video.example.com/avatars/ava_01kafe3n4pfx2v9yq6m8d7t5zr.webp',
    updatedAt: '2026-11-20T09:00:00.000Z',
  },
);

export const EmbedAllowlistIn = namedSchema(
  'EmbedAllowlistSet',
  Type.Object({
    domains: Type.Array(Type.String({ maxLength: 300 }), {
      maxItems: 100,
      description: 'Host names; `*.example.com` matches every subdomain.',
    }),
    mode: OneOf(VALUES.account.embed_mode, { default: 'ALLOWLIST' }),
  }),
  { domains: ['example.com', '*.example.org'], mode: 'ALLOWLIST' },
);

export const EmbedAllowlist = namedSchema(
  'EmbedAllowlist',
  Type.Object({
    domains: Type.Array(Type.String()),
    mode: OneOf(VALUES.account.embed_mode),
    updatedAt: Instant,
  }),
  { domains: ['example.com', '*.example.org'], mode: 'ALLOWLIST', updatedAt: '2026-11-20T09:00:00.000Z' },
);

/** Fields of `GET /me` that are not part of the profile. */
interface AccountContext {
  twoFactorEnabled: boolean;
  publicUrl: string;
}

export function toProfile(
  row: ProfileRow,
  { twoFactorEnabled, publicUrl }: AccountContext,
): Static<typeof Profile> {
  return {
    id: row.id,
    email: row.email,
    emailVerified: row.email_verified_at !== null,
    name: row.name,
    username: row.username,
    role: row.role,
    plan: row.plan,
    avatarUrl: avatarUrl(row, publicUrl),
    bio: row.bio,
    locale: row.locale,
    timezone: row.timezone,
    twoFactorEnabled,
    createdAt: row.created_at.toISOString(),
  };
}

/** @param key of the caller; null for a user session. */
export function toMe(
  row: ProfileRow,
  { caller, key, ...beside }: AccountContext & { caller: Caller; key: CallingKeyRow | null },
): Static<typeof Me> {
  if (key === null) return { ...toProfile(row, beside), key };
  return {
    ...toProfile(row, beside),
    key: {
      id: key.id,
      name: key.name,
      scope: caller.scope,
      permissions: [...caller.permissions],
      mode: caller.mode,
      expiresAt: key.expiresAt?.toISOString() ?? null,
    },
  };
}

export interface CallingKeyRow {
  id: string;
  name: string;
  expiresAt: Date | null;
}

/** Returns the avatar URL of an account; null without one. */
export function avatarUrl(
  { avatar_id: id }: Pick<ProfileRow, 'avatar_id'>,
  publicUrl: string,
): string | null {
  return id === null ? null : `${publicUrl}/avatars/${id}.webp`;
}

export function toAvatar(row: ProfileRow, publicUrl: string): Static<typeof Avatar> {
  return { avatarUrl: avatarUrl(row, publicUrl), updatedAt: row.avatar_created_at?.toISOString() ?? null };
}

export function toEmbedAllowlist(row: ProfileRow): Static<typeof EmbedAllowlist> {
  return {
    domains: row.embed_domains,
    mode: row.embed_mode,
    updatedAt: (row.embed_updated_at ?? row.created_at).toISOString(),
  };
}
