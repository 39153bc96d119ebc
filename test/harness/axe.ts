import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

type Violation = Awaited<ReturnType<AxeBuilder['analyze']>>['violations'][number];

/**
 * What the page does against the rules of accessibility, a line for each.
 *
 * @param rules of axe; all of them when left out.
 */
export async function violationsOf(page: Page, rules?: string[]): Promise<string[]> {
  // To send axe itself to the page, a megabyte, takes as long as some of its rules.
  const found = page.frames().map((frame) => frame.evaluate<boolean>('"axe" in window'));
  const isThere = (await Promise.all(found)).every(Boolean);
  // No frame of another site is in it, and no second page has to be opened for the result.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
  const options = { resultTypes: ['violations'], ...(rules === undefined ? {} : { runOnly: rules }) };
  const violations = isThere
    ? await page.evaluate<Violation[]>(
        `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
      )
    : (await (rules === undefined ? axe : axe.withRules(rules)).analyze()).violations;
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join('; ')}`,
  );
}

/** In the dark scheme, which changes colours and nothing else; the page stays in it. */
export async function violationsInDarkScheme(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'dark' });
  await transitionsEnd(page);
  return violationsOf(page, ['color-contrast']);
}

/** No colour is looked at on its way to another one: some fade whatever is preferred. */
export async function transitionsEnd(page: Page): Promise<void> {
  await page.evaluate(TRANSITIONS_END);
}

const TRANSITIONS_END = `Promise.allSettled(
  document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished),
).then(() => {})`;
