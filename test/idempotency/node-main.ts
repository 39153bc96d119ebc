/** A node in a process of its own, which a test kills. Its address goes to the parent. */
import { startTestNode } from './node.ts';

const node = await startTestNode({ databaseUrl: process.argv[2] ?? '' });
process.send?.(node.url);
process.on('disconnect', () => process.exit(0));
