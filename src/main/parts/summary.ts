import { summaryRoutes } from '../../features/summary/index.ts';
import type { Noun } from '../core.ts';

export const summary: Noun = {
  build: (core) => ({ routes: () => summaryRoutes(core) }),
};
