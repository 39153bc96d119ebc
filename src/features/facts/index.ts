/** Facts: what happened to content and what was used, each a row that nobody changes; everything counted is made of them. */
export type { Fact, Viewer } from './fact.ts';
export { createFacts, type Facts } from './service.ts';
