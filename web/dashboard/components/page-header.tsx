import { Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';

interface Props {
  title: string;
  description?: ReactNode;
  /** Buttons next to the title. */
  actions?: ReactNode;
}

/** Path whose heading last received the focus; the first page keeps the browser's own focus. */
let focused = window.location.pathname;

/** The heading of a page: every page has one. It names the tab, and takes the focus after a navigation. */
export function PageHeader({ title, description, actions }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Marquee`;
  }, [title]);
  useEffect(() => {
    if (focused === window.location.pathname) return;
    focused = window.location.pathname;
    heading.current?.focus();
  }, []);
  return (
    <Group justify="space-between" align="flex-start" mb="md">
      <Stack gap={4} miw={0}>
        <Title order={1} size="h2" ref={heading} tabIndex={-1}>
          <bdi>{title}</bdi>
        </Title>
        {description !== undefined && (
          <Text c="dimmed" component="div">
            {description}
          </Text>
        )}
      </Stack>
      {actions !== undefined && <Group gap="xs">{actions}</Group>}
    </Group>
  );
}
