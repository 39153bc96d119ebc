import { Group, Paper, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  title: string;
  /** Actions next to the title. */
  actions?: ReactNode;
  children: ReactNode;
}

/** Renders a section of a page with a border and a heading. */
export function Panel({ title, actions, children }: Props) {
  return (
    <Paper withBorder p={{ base: 'md', sm: 'lg' }} component="section" aria-label={title}>
      <Stack>
        <Group justify="space-between">
          <Title order={2} size="h4">
            {title}
          </Title>
          {actions}
        </Group>
        {children}
      </Stack>
    </Paper>
  );
}
