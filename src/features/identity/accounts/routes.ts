import { anyKey, requiresWrite } from '../../../http/access.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { Deleted } from '../../../http/schema.ts';
import type { Caller } from '../../../kernel/access.ts';
import { HOUR_SEC } from '../../../kernel/durations.ts';
import { badRequest } from '../../../kernel/errors.ts';
import type { ProfileRow } from './profile.repository.ts';
import { AVATAR_MAX_BYTES, type Profiles } from './profile.service.ts';
import {
  Avatar,
  AvatarIn,
  type CallingKeyRow,
  EmbedAllowlist,
  EmbedAllowlistIn,
  Me,
  MePatch,
  toAvatar,
  toEmbedAllowlist,
  toMe,
} from './schemas.ts';

interface Deps {
  profiles: Profiles;
  /** @returns null for a user session. */
  keyOf(caller: Caller): Promise<CallingKeyRow | null>;
  hasTwoFactor(accountId: string): Promise<boolean>;
  publicUrl: string;
}

/** `/me`, `/me/avatar`, `/me/embed-allowlist` (docs/concepts/me.md). */
export function meRoutes(deps: Deps): Route[] {
  const { profiles, publicUrl } = deps;
  const out = async (caller: Caller, row: ProfileRow) => {
    const [key, twoFactorEnabled] = await Promise.all([
      deps.keyOf(caller),
      deps.hasTwoFactor(caller.accountId),
    ]);
    return toMe(row, { caller, key, twoFactorEnabled, publicUrl });
  };
  return [
    defineRoute({
      ...anyKey,
      operationId: 'me.get',
      method: 'GET',
      path: '/me',
      summary: 'Get the current account and key',
      description: 'The account with its plan, and the API key of the request with its permissions.',
      reply: { status: 200, schema: Me },
      handler: async ({ caller }) => out(caller, await profiles.get(caller.accountId)),
    }),
    defineRoute({
      ...requiresWrite('profile:write'),
      onlyMode: 'live',
      operationId: 'me.update',
      method: 'PATCH',
      path: '/me',
      summary: 'Update the profile',
      description:
        'Omitted fields are unchanged. The profile belongs to the account, so a live key is required.',
      body: MePatch,
      reply: { status: 200, schema: Me },
      errors: ['CONFLICT'],
      handler: async ({ caller }, { body }) => out(caller, await profiles.update(caller.accountId, body)),
    }),
    ...avatarRoutes(deps),
    defineRoute({
      ...anyKey,
      operationId: 'me.getEmbedAllowlist',
      method: 'GET',
      path: '/me/embed-allowlist',
      summary: 'Get the embed allowlist',
      description: "Hosts that can embed this account's player.",
      reply: { status: 200, schema: EmbedAllowlist },
      handler: async ({ caller }) => toEmbedAllowlist(await profiles.get(caller.accountId)),
    }),
    defineRoute({
      ...requiresWrite('profile:write'),
      onlyMode: 'live',
      operationId: 'me.putEmbedAllowlist',
      method: 'PUT',
      path: '/me/embed-allowlist',
      summary: 'Replace the embed allowlist',
      description: 'Replaces the whole list. Requires a live key, because it applies to the account.',
      body: EmbedAllowlistIn,
      reply: { status: 200, schema: EmbedAllowlist },
      handler: async ({ caller }, { body }) =>
        toEmbedAllowlist(await profiles.setEmbedding(caller.accountId, body)),
    }),
  ];
}

function avatarRoutes({ profiles, publicUrl }: Deps): Route[] {
  const path = '/me/avatar';
  return [
    defineRoute({
      ...anyKey,
      operationId: 'me.getAvatar',
      method: 'GET',
      path,
      summary: 'Get the avatar',
      description: 'Returns its URL and when it was set, both null if there is none.',
      reply: { status: 200, schema: Avatar },
      handler: async ({ caller }) => toAvatar(await profiles.get(caller.accountId), publicUrl),
    }),
    defineRoute({
      ...requiresWrite('profile:write'),
      onlyMode: 'live',
      operationId: 'me.putAvatar',
      method: 'PUT',
      path,
      summary: 'Set the avatar',
      description:
        'Accepts a PNG, JPEG or WebP image up to 5 MB, as a file or a URL; served as WebP. Requires a live key, because it applies to the account.',
      limits: [{ bucket: 'avatar', per: 'key', max: 60, windowSec: HOUR_SEC, refusal: 'RATE_LIMITED' }],
      upload: { field: 'file', maxBytes: AVATAR_MAX_BYTES },
      body: AvatarIn,
      optionalBody: true,
      reply: { status: 200, schema: Avatar },
      async handler({ caller, upload }, { body }) {
        const picture = upload ?? (body.url === undefined ? null : { url: body.url });
        if (picture === null)
          throw badRequest('file', 'Send a file as multipart/form-data, or {url} as JSON.');
        return toAvatar(await profiles.setAvatar(caller.accountId, picture), publicUrl);
      },
    }),
    defineRoute({
      ...requiresWrite('profile:write'),
      onlyMode: 'live',
      operationId: 'me.deleteAvatar',
      method: 'DELETE',
      path,
      summary: 'Delete the avatar',
      description: 'The response `id` is the account ID. Requires a live key.',
      reply: { status: 200, schema: Deleted },
      errors: ['NOT_FOUND'],
      async handler({ caller }) {
        await profiles.removeAvatar(caller.accountId);
        return { id: caller.accountId, deleted: true };
      },
    }),
  ];
}
