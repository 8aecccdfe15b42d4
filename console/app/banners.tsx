import { SosBanner } from '../pages/events/sos-banner.tsx'
import { TroubleBanner } from '../pages/notifications/trouble-banner.tsx'

/** Lines above the content of every page. */
export function Banners() {
  return (
    <div class="banners">
      <SosBanner />
      <TroubleBanner />
    </div>
  )
}
