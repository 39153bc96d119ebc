import type { Result } from '../features/commands.ts';
import { required, UsageError, type Values } from '../features/commands.ts';
import type { Container } from './container.ts';

/** A command of the operator for content of any account (docs/guides/operations.md#content). */
interface ContentCommand {
  usage: string;
  run(container: Container, values: Values): Promise<Result>;
}

const MAX_REASON = 1000;

/** Selects the takedowns by the prefix of the ID. */
function takedownsOf({ videoTakedowns, streamTakedowns }: Container, id: string) {
  if (id.startsWith('vid_')) return videoTakedowns;
  if (id.startsWith('str_')) return streamTakedowns;
  throw new UsageError('--id must be a video ID (vid_…) or stream ID (str_…)');
}

const takedown: ContentCommand = {
  usage: 'content takedown --id VIDEO_ID|STREAM_ID --reason TEXT',
  async run(container, values) {
    const id = required(values, 'id');
    const reason = required(values, 'reason').trim();
    if (reason === '' || reason.length > MAX_REASON) {
      throw new UsageError(`--reason must have at most ${MAX_REASON} characters; it is shown to the owner`);
    }
    const title = await takedownsOf(container, id).takeDown(id, reason);
    return { data: { id, title, reason }, text: `took down ${id}; the owner is notified of the reason` };
  },
};

const restore: ContentCommand = {
  usage: 'content restore --id VIDEO_ID|STREAM_ID',
  async run(container, values) {
    const id = required(values, 'id');
    const title = await takedownsOf(container, id).restore(id);
    return { data: { id, title }, text: `restored ${id}` };
  },
};

export const contentCommands: readonly [name: string, command: ContentCommand][] = [
  ['content takedown', takedown],
  ['content restore', restore],
];
