import { Group, Text } from '@mantine/core';
import { CopyButton } from './copy-button.tsx';

/** An id as programs write it, to be copied. `label` says whose: "Copy the id of the video". */
export function IdLine({ id, label }: { id: string; label: string }) {
  return (
    <Group gap={4} wrap="nowrap">
      <Text size="sm" c="dimmed" dir="ltr" className="breaks">
        {id}
      </Text>
      <CopyButton value={id} label={label} />
    </Group>
  );
}
