package card

import (
	"crypto/ed25519"
	"math/big"
	"slices"
)

// onCurve reports whether an Ed25519 key is a point of the curve (RFC 8032, section
// 5.1.3): x² = (y²-1)/(dy²+1) has a solution. One that is none verifies nothing,
// and is more likely a key that was copied wrongly.
func onCurve(key ed25519.PublicKey) bool {
	one := big.NewInt(1)
	p := new(big.Int).Sub(new(big.Int).Lsh(one, 255), big.NewInt(19))
	bytes := slices.Clone(key)
	slices.Reverse(bytes) // little endian
	negative := bytes[0]&0x80 != 0
	bytes[0] &= 0x7f
	y := new(big.Int).SetBytes(bytes)
	if y.Cmp(p) >= 0 {
		return false
	}
	// d = -121665/121666
	d := new(big.Int).ModInverse(big.NewInt(121666), p)
	d.Mul(d, big.NewInt(-121665)).Mod(d, p)
	square := new(big.Int).Mul(y, y)
	above := new(big.Int).Sub(square, one)
	below := new(big.Int).Mul(d, square)
	below.Add(below, one).Mod(below, p)
	x := above.Mul(above, below.ModInverse(below, p))
	x.Mod(x, p)
	if x.Sign() == 0 {
		return !negative
	}
	return big.Jacobi(x, p) == 1
}
