import { Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { CodeLine } from './copy-field.tsx';

interface Props {
  title: string;
  text: string;
  /** The first action: a button or a link. */
  action?: ReactNode;
  /** curl command for the same action; the key is `$MARQUEE_API_KEY`. */
  curl?: string;
}

/** Renders an empty list: its purpose, the first action, and the API call for it. */
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
