import type { FastifyInstance, FastifyRequest } from 'fastify';
import { sendImage } from '../../../http/image.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Channels } from './service.ts';

type BannerRequest = FastifyRequest<{ Params: { file: string } }>;

/** Text that cannot be an ID never reaches the database. */
const FILE = /^(bnr_[0-9a-z]{26})\.jpg$/;

/** Registers `GET /banners/<id>.jpg`. */
export function bannerPages({
  channels,
}: {
  channels: Pick<Channels, 'banner'>;
}): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/banners/:file', async (request: BannerRequest, reply) => {
      const id = FILE.exec(request.params.file)?.[1];
      const image = id === undefined ? undefined : await channels.banner(id);
      if (image === undefined) throw notFound();
      return sendImage(reply, 'image/jpeg', image);
    });
  };
}
