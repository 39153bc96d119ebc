import { Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { CodeLine } from './copy-field.tsx';

interface Props {
  title: string;
  text: string;
  /** The first action: a button or a link. */
  action?: ReactNode;
  /** The same by the API; the key is `$MARQUEE_API_KEY`. */
  curl?: string;
}

/** A list that has nothing yet: what it is for, how to begin, and how the API does it. */
export function EmptyState({ title, text, action, curl }: Props) {
  const { t } = useTranslation();
  return (
    <Paper withBorder p="lg">
      <Stack align="flex-start">
        <Title order={2} size="h4">
          {title}
        </Title>
        <Text>{text}</Text>
        {action}
        {curl !== undefined && <CodeLine label={t('byApi')} code={curl} />}
      </Stack>
    </Paper>
  );
}
