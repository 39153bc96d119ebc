import { Alert, Text } from '@mantine/core';
import { WarningIcon } from './icons.tsx';

interface Props {
  takedown: { reason: string } | null;
  title: string;
  /** What is not possible now, and what can be done about it. */
  text: string;
}

/** What the operator says of content that was taken down; nothing of any other. */
export function TakedownNotice({ takedown, title, text }: Props) {
  if (takedown === null) return null;
  return (
    <Alert color="red" icon={<WarningIcon />} title={title}>
      <Text size="sm" className="breaks">
        {takedown.reason}
      </Text>
      <Text size="sm">{text}</Text>
    </Alert>
  );
}
