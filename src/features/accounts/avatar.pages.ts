import type { FastifyInstance, FastifyRequest } from 'fastify';
import { notFound } from '../../kernel/errors.ts';
import type { Profiles } from './profile.service.ts';

type AvatarRequest = FastifyRequest<{ Params: { file: string } }>;

/** What no id looks like never reaches the database. */
const FILE = /^(ava_[0-9a-z]{26})\.webp$/;

/** `GET /avatars/<id>.webp`: each picture has an id of its own, but one that was removed has to go from caches, too. */
export function avatarPages({
  profiles,
}: {
  profiles: Pick<Profiles, 'avatar'>;
}): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/avatars/:file', async (request: AvatarRequest, reply) => {
      const id = FILE.exec(request.params.file)?.[1];
      const image = id === undefined ? undefined : await profiles.avatar(id);
      if (image === undefined) throw notFound();
      reply.headers({
        'Content-Type': 'image/webp',
        'Cache-Control': 'public, max-age=300, must-revalidate',
        'X-Content-Type-Options': 'nosniff',
        'Content-Security-Policy': "default-src 'none'; sandbox",
        'Cross-Origin-Resource-Policy': 'cross-origin',
      });
      return reply.send(Buffer.from(image));
    });
  };
}
