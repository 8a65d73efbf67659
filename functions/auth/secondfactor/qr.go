package secondfactor

import (
	"fmt"
	"strings"

	"github.com/boombuler/barcode/qr"
)

const quietZone = 4 // modules of white around a QR code, which ISO/IEC 18004 demands

// drawQR returns text as a QR code in SVG: black modules on white, one unit each.
func drawQR(text string) (string, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return "", fmt.Errorf("draw a QR code: %w", err)
	}
	size := code.Bounds().Dx()
	var path strings.Builder
	for y := range size {
		for x := range size {
			if r, _, _, _ := code.At(x, y).RGBA(); r == 0 {
				fmt.Fprintf(&path, "M%d %dh1v1h-1z", x+quietZone, y+quietZone)
			}
		}
	}
	side := size + 2*quietZone
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[1]d" width="%[2]d" `+
		`height="%[2]d" shape-rendering="crispEdges"><rect width="%[1]d" height="%[1]d" fill="#fff"/>`+
		`<path fill="#000" d="%[3]s"/></svg>`, side, side*4, path.String()), nil
}
