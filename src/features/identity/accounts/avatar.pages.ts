import type { FastifyInstance, FastifyRequest } from 'fastify';
import { sendImage } from '../../../http/image.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Profiles } from './profile.service.ts';

type AvatarRequest = FastifyRequest<{ Params: { file: string } }>;

/** Text that cannot be an ID never reaches the database. */
const FILE = /^(ava_[0-9a-z]{26})\.webp$/;

/** Serves `GET /avatars/<id>.webp`. */
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
      return sendImage(reply, 'image/webp', image);
    });
  };
}
