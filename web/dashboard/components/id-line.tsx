import { Group, Text } from '@mantine/core';
import { CopyButton } from './copy-button.tsx';

/** Shows an ID in code style with a copy button. `label` names it: "Copy the id of the video". */
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
