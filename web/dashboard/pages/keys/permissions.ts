/**
 * Resources that a key can be granted, each as `:read` or `:write`; other endpoints require no permission.
 */
export const PERMISSION_RESOURCES = [
  'videos',
  'upload',
  'imports',
  'playlists',
  'subscribers',
  'streams',
  'chat',
  'webhooks',
  'events',
  'domains',
  'profile',
  'support',
  'finance',
] as const;
export type PermissionResource = (typeof PERMISSION_RESOURCES)[number];

export type Level = 'none' | 'read' | 'write';
export type Levels = Record<PermissionResource, Level>;

export function noLevels(): Levels {
  return {
    videos: 'none',
    upload: 'none',
    imports: 'none',
    playlists: 'none',
    subscribers: 'none',
    streams: 'none',
    chat: 'none',
    webhooks: 'none',
    events: 'none',
    domains: 'none',
    profile: 'none',
    support: 'none',
    finance: 'none',
  };
}

/** Returns the permissions for `POST /me/api-keys`; write access includes read access. */
export function permissionsOf(levels: Levels): `${PermissionResource}:${'read' | 'write'}`[] {
  return PERMISSION_RESOURCES.flatMap((noun) => {
    const level = levels[noun];
    return level === 'none' ? [] : [`${noun}:${level}` as const];
  });
}
