import { NativeSelect, type NativeSelectProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../app/shape.ts';

export type Visibility = Shape<'Visibility'>;

/** Visibilities available to all content; the others require something to be on sale. */
const CHOICES = ['PUBLIC', 'UNLISTED', 'FOLLOWERS', 'PRIVATE'] as const;
const ALL: readonly string[] = ['PUBLIC', 'UNLISTED', 'PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE'];

export function isVisibility(text: unknown): text is Visibility {
  return typeof text === 'string' && ALL.includes(text);
}

/** Shows its name: "Public". */
export function VisibilityName({ visibility }: { visibility: Visibility }) {
  const { t } = useTranslation();
  return t(`visibility.${visibility}`);
}

interface Props extends Omit<NativeSelectProps, 'data'> {
  /** Current visibility; always offered, even if it is not a standard choice. */
  current?: Visibility;
  /** Additional choices. */
  more?: readonly Visibility[];
}

/** Selects who may watch, with a line that explains each choice. */
export function VisibilitySelect({ current, more = [], ...select }: Props) {
  const { t } = useTranslation();
  const usual: readonly Visibility[] = [...CHOICES, ...more];
  const values = current === undefined || usual.includes(current) ? usual : [...usual, current];
  return (
    <NativeSelect
      size="md"
      label={t('visibility.label')}
      data={values.map((value) => ({
        value,
        label: `${t(`visibility.${value}`)}: ${t(`visibilityMeans.${value}`)}`,
      }))}
      {...select}
    />
  );
}
