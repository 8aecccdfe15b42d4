import { GUIDES } from '../../guides/guides.ts'

/** Chooses the app, program or server that is connected. */
export function ChooseSender({
  sender,
  choose,
}: {
  sender: string
  choose: (sender: string) => void
}) {
  return GUIDES.map(({ title, guides }) => (
    <fieldset key={title} class="senders row">
      <legend>{title}</legend>
      {guides.map(({ id, name }) => (
        <label key={id} class="sender">
          <input
            type="radio"
            name="sender"
            value={id}
            checked={id === sender}
            onChange={() => choose(id)}
          />
          {name}
        </label>
      ))}
    </fieldset>
  ))
}
