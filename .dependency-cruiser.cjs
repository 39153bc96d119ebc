/**
 * The ten dependency rules of ARCHITECTURE.md. Tests may reach anywhere: they stand outside the layers.
 * Each rule is proven by a tree under test/dependency-rules/fixtures that breaks it and nothing else.
 */
const TESTS = '[.]test[.]ts$';
/** A feature: `rooms`, or a folder of another domain. */
const FEATURE = '(rooms|[^/]+/[^/]+)';
/** Types of modules and helpers of commands, shared by all features. */
const SHARED = '^src/features/(commands|module|platform)[.]ts$';
const SQL = 'node_modules/(kysely|kysely-postgres-js|pg|postgres)/';

const rule = (name, comment, from, to) => ({
  name,
  comment,
  severity: 'error',
  from: { pathNot: TESTS, ...from },
  to,
});
const valueOnly = (path) => ({ ...path, dependencyTypesNot: ['type-only'] });

module.exports = {
  forbidden: [
    rule('1-no-cycles', 'No cycles, type-only included.', {}, { circular: true }),
    rule(
      '2-kernel-imports-nothing',
      'kernel imports nothing of ours and no runtime package.',
      { path: '^src/kernel/' },
      { pathNot: '^src/kernel/', dependencyTypesNot: ['core', 'type-only'] },
    ),
    rule(
      '2-kernel-imports-nothing',
      'Not even a type of ours.',
      { path: '^src/kernel/' },
      { path: '^(src|test|scripts|bench|web|sdk)/', pathNot: '^src/kernel/' },
    ),
    rule(
      '3-platform-imports-only-kernel',
      'platform imports only kernel.',
      { path: '^src/platform/' },
      { path: '^src/', pathNot: '^src/(platform|kernel)/' },
    ),
    rule(
      '4-http-knows-no-feature',
      'http gets ports from the root.',
      { path: '^src/http/' },
      { path: '^src/(features|media|events|jobs)/' },
    ),
    rule(
      '5-features-by-front-door',
      'A feature sees another one only through its index.ts.',
      { path: `^src/features/${FEATURE}/` },
      {
        path: '^src/features/',
        pathNot: ['^src/features/$1/', `^src/features/${FEATURE}/index[.]ts$`, SHARED],
      },
    ),
    rule(
      '5-features-by-front-door',
      'And types only: what it needs, it declares, and the root passes it in.',
      { path: `^src/features/${FEATURE}/` },
      valueOnly({ path: `^src/features/${FEATURE}/index[.]ts$`, pathNot: '^src/features/$1/' }),
    ),
    rule(
      '5-features-by-front-door',
      'An index.ts exports types only.',
      { path: `^src/features/${FEATURE}/index[.]ts$` },
      valueOnly({ path: '^src/' }),
    ),
    rule(
      '5-features-by-front-door',
      'A module.ts is for main.',
      { path: `^src/features/${FEATURE}/` },
      { path: '^src/features/.*/module[.]ts$' },
    ),
    rule(
      '6-layers-in-a-feature',
      'repository never imports service or routes.',
      { path: '^src/features/.*\\brepository[.]ts$' },
      { path: '^src/features/.*\\b(service|routes)[.]ts$' },
    ),
    rule(
      '6-layers-in-a-feature',
      'service never imports routes, fastify or http.',
      { path: '^src/features/.*\\bservice[.]ts$' },
      { path: ['^src/features/.*\\broutes[.]ts$', '^src/http/', 'node_modules/(fastify|@fastify)/'] },
    ),
    rule(
      '6-layers-in-a-feature',
      'rules imports only kernel, and other rules of its folder.',
      { path: '^(src/features/.*/).*\\brules[.]ts$' },
      { pathNot: ['^src/kernel/', '^$1[^/]*\\brules[.]ts$'], dependencyTypesNot: ['core', 'type-only'] },
    ),
    rule(
      '7-sql-in-repositories',
      'Kysely and driver values only in repositories, platform/db, events and jobs.',
      { path: '^src/', pathNot: [TESTS, '\\brepository[.]ts$', '^src/(platform/db|events|jobs)/'] },
      valueOnly({ path: SQL }),
    ),
    rule(
      '8-media-by-contract',
      'Features see media/contract alone.',
      { path: '^src/features/' },
      { path: '^src/media/', pathNot: '^src/media/contract/index[.]ts$' },
    ),
    rule(
      '8-media-by-contract',
      'media never imports a feature.',
      { path: '^src/media/' },
      { path: '^src/features/' },
    ),
    rule(
      '9-root-is-alone',
      'Nothing imports main.',
      { path: '^(src|web|sdk|e2e)/', pathNot: [TESTS, '^src/main/'] },
      { path: '^src/main/' },
    ),
    rule(
      '9-root-is-alone',
      "Only main imports features' values.",
      { path: '^src/', pathNot: [TESTS, '^src/(main|features)/'] },
      valueOnly({ path: '^src/features/' }),
    ),
    rule(
      '9-root-is-alone',
      "And only from a feature's module.ts.",
      { path: '^src/main/' },
      valueOnly({ path: '^src/features/', pathNot: [`^src/features/${FEATURE}/module[.]ts$`, SHARED] }),
    ),
    {
      name: '10-outside-stays-outside',
      comment: 'e2e and web import nothing from src.',
      severity: 'error',
      from: { path: '^(e2e|web)/' },
      to: { path: '^src/' },
    },
  ],
  options: {
    // TypeScript 7 has no parser to lend; swc sees type-only imports too.
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['^web/dist/', '^test/dependency-rules/fixtures/'] },
  },
};
