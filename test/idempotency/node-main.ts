/** Node in a separate process, which a test kills. It sends its URL to the parent. */
import { startTestNode } from './node.ts';

const node = await startTestNode({ databaseUrl: process.argv[2] ?? '' });
process.send?.(node.url);
process.on('disconnect', () => process.exit(0));
