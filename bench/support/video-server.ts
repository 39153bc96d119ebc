import { startTestApp } from '../../test/harness/app.ts';
import { addVideo, FOLDER, madeUpFiles } from '../../test/videos/fixture.ts';

/** Runs the whole program with one video whose segments have the size of 1080p; ends with its parent. */
/** More than the program caches in memory. */
const SEGMENTS = 100;
const app = await startTestApp();
const { account } = await app.createKey();
const { store } = app.container;
const id = await addVideo(app.container, account, madeUpFiles());
const folder = `w/${account.live}/v/${id}/${FOLDER}/1080p`;
const names = Array.from({ length: SEGMENTS }, (_, index) => `s_${index + 10}.m4s`);
for (const name of names)
  await store.put(`${folder}/${name}`, Buffer.alloc(1_500_000, 7), 'video/iso.segment');
process.send?.({
  base: `${app.url}/v/${id}/${FOLDER}/1080p`,
  folder: store.localPath(folder),
  names,
});
process.once('disconnect', () => void app.close().then(() => process.exit(0)));
