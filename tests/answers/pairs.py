r"""Pairs of a gold and what stands in the box, rule by rule; `=` are right, `!` are not."""

NUMBERS = r"""
= 0.5 | \frac{1}{2}
= \frac{1}{2} | 50\%
= \frac12 | 5\times10^{-1}
= 0.5 | 5e-1
= 0.5 | .5
= \frac{1}{3} | 0.\overline{3}
= \frac{1}{3} | 0.\dot{3}
= \frac{1}{6} | 0.1\overline{6}
= 12345 | 12{,}345
= 12345 | 12\,345
= 12345 | 12,345
= 12345 | 12 345
= 1234567 | 1,234,567
= 12345 | 12345.0
= 12345 | 1.2345 \times 10^4
= 12345 | 1.2345 \cdot 10^{4}
= \frac{7}{2} | 3\frac{1}{2}
= \frac{7}{2} | 3 1/2
= \frac{7}{2} | 3½
= -\frac72 | -3\frac12
= 7/2 | 3.5
= 5 | x=5
= 5 | N = 5
= 5 | \text{Area} = 5
= 5 | f(2)=5
= 5 | S_{10} = 5
= 5 | a_1 = 5
= 5 | AB = 5
= 5 | |AB| = 5
= 5 | +5
= 5 | \mathbf{5}
= 5 | \text{5}
= 5 | 5.
= 5 | {5}
= 5 | (5)
= 5 | five
= 21 | twenty-one
= 8 | 2^3
= 8 | 2³
= 8 | 2**3
= 3 | \log_2 8
= 2 | \sqrt{4}
= 2 | \sqrt[3]{8}
= 2 | \sqrt 4
= 2 | 4^{1/2}
= 24 | 4!
= \frac{1}{2} | \sin 30^\circ
= \frac12 | \cos\frac{\pi}{3}
= \frac{\sqrt{2}}{2} | \frac{1}{\sqrt{2}}
= \sqrt{8} | 2\sqrt{2}
= 1+\sqrt{2} | \sqrt2 + 1
= \frac{5!}{6^5} | \frac{5}{324}
= 2\pi | 2 \pi
= 2\pi | 6.283
= -5 | -5
= -5 | −5
= 5^{10} | 9765625
= i | \sqrt{-1}
= 1+2i | 2i+1
= \frac{1+i}{\sqrt2} | e^{i\pi/4}
= e | \mathrm{e}
= \ln 2 | -\ln\frac12
= \frac{3}{4} | \frac{3}{4}=0.75
= \frac{3}{4} | {3 \over 4}
= \frac{3}{4} | \tfrac34
= 3/4 | ¾
= \log_{10} 2 | \lg 2
= 6 | \frac{12}{2}
! 6 | \frac{13}{2}
! 5 | -5
! 5 | 5.1
! 12345 | 12346
! 12345 | 1, 2345
! 0.5 | 0.05
! \frac{1}{3} | 0.3
! \frac{1}{2004!} | \frac{1}{2006!}
! 6.63\times10^{-34} | 1.05\times10^{-34}
! 2^{100} | 2^{101}
! 1000000007 | 1000000009
! 5 | x
! 5 | five hundred
! 5 | not 5
! 5 | at least 5
! 5 | x > 5
! 2\sqrt{3} | 3\sqrt{2}
! e^2 | 2e
! \sqrt{2} | \sqrt{3}
! 7^{20} | 79792266297612000
! 4 | 2^3
= 7.5 | 3\frac52
= 7.5 | 3\frac{5}{2}
"""

ROUNDING = r"""
= \frac{600}{7} | 85.71
= \frac{600}{7} | 85.7
= \frac{600}{7} | 85.714286
= \frac{100}{3} | 33.3
= 33.3 | \frac{100}{3}
= \sqrt{3} | 1.732
= 1.73 | \sqrt3
= \pi | 3.14
= \pi | 3.1416
= 3.14159 | 3.14
= 2.345 | 2.35
= 2.345 | 2.34
= 6.022\times10^{23} | 6.02\times 10^{23}
= 6.022\times10^{23} | 6.02e23
= 12.5 | 12.50
= 66.7\% | \frac{2}{3}
= 3.33 | \frac{10}{3}
= e | 2.718
= 4.19 | \frac{4\pi}{3}
! \frac{600}{7} | 85.72
! \frac{600}{7} | 86
! \frac{600}{7} | 85
! \frac{1}{3} | 0.33
! \pi | 3.15
! \pi | 3.1
! \pi | \frac{22}{7}
! 100 | 99.7
! 100 | 99.99
! 99.7 | 100
! \frac{2000}{3} | 667
! 3.14 | 3.15
! 2.345 | 2.33
! 3 | 3.14
! 0.125 | 0.13
! 17.2 | 17
"""

PERCENT = r"""
= 25\% | 0.25
= 25\% | \frac14
= 25\% | 25
= 25\% | 25 percent
= 25\% | 25\text{ percent}
= 25% | 25 \%
= \frac{1}{4} | 25\%
= 0.25 | 25\%
= 150\% | \frac{3}{2}
= 12.5\% | \frac{1}{8}
= 12\frac12\% | 12.5\%
= 7.5\% | 0.075
! 25 | 25\%
! 25\% | 0.25\%
! 25\% | 2.5
! 25\% | 75\%
! 25\% | 25 \text{ cm}
! \frac{1}{4} | 25
"""

UNITS = r"""
= 5 | 5 \text{ cm}
= 5 | 5\ \mathrm{m}
= 5 | 5 apples
= 5 | \$5
= 5 \text{ m} | 5
= 5 \text{ m} | 500 \text{ cm}
= 5 \text{ m} | 500\text{cm}
= 5 \text{ m} | 5 \text{ meters}
= 5 \text{ m} | 0.005 \text{ km}
= 5\text{ m} | 5 m
= 18.90 \text{ dollars} | \$18.9
= \$18.90 | 18.9 dollars
= \$18.90 | 1890 \text{ cents}
= 36 \text{ km/h} | 10 \text{ m/s}
= 36 \text{ km/h} | 36 \text{ kilometers per hour}
= 36 \text{ km/h} | 10\ \mathrm{m}\,\mathrm{s}^{-1}
= 12 \text{ cm}^2 | 12 \text{ square centimeters}
= 12 \text{ cm}^2 | 12 \text{ sq cm}
= 12 \text{ cm}^2 | 1200 \text{ mm}^2
= 1 \text{ m}^3 | 1000 \text{ liters}
= 2 \text{ hours} | 120 \text{ minutes}
= 2.5 \text{ hours} | 2 \text{ hours and } 30 \text{ minutes}
= 2.5\text{ h} | 150 \text{ min}
= 1 \text{ foot} | 12 \text{ inches}
= 2 \text{ kg} | 2000 \text{ g}
= 3 \text{ days} | 72 \text{ hours}
= 2 \text{ years} | 24 \text{ months}
= 9.8\ \mathrm{m/s^2} | 9.8\ \text{m/s}^2
= 12 \text{ apples} | 12
= 12 \text{ apples} | 12 \text{ red apples}
= 5\ \mathrm{N} | 5\ \mathrm{kg\cdot m/s^2}
= 100 \text{ J} | 0.1 \text{ kJ}
= 6\pi \text{ cm} | 6\pi
= €5 | 5 \text{ euros}
= 5.4 \text{ square units} | 5.4
= 7 \text{ cm} | 7.00 \text{ cm}
! 5 \text{ m} | 5 \text{ cm}
! 5 \text{ m} | 5 \text{ kg}
! 5 \text{ m} | 50 \text{ cm}
! 30 \text{ km/h} | 30 \text{ mph}
! 12 \text{ cm}^2 | 12 \text{ cm}
! 5 | 6 \text{ cm}
! \$5 | 5 \text{ cents}
! \$5 | 5\text{ euros}
! 2 \text{ hours} | 2 \text{ minutes}
! 12 \text{ apples} | 12 \text{ oranges}
! 5 \text{ g} | 5 \text{ mg}
! 10 \text{ m/s} | 10 \text{ m/s}^2
"""

ANGLES = r"""
= \frac{\pi}{4} | 45^\circ
= 45^\circ | \frac{\pi}{4}
= 45^\circ | 45
= 45^{\circ} | 45°
= 45^\circ | 45 \text{ degrees}
= 45 | 45^\circ
= 45^\circ | \theta = 45^\circ
= 60.7^\circ | 60^\circ 42'
= 60^\circ 42' | 60.7^\circ
= 30^\circ 15' 36'' | 30.26^\circ
= \pi | 180^\circ
= 2\pi | 360^\circ
= \angle A = 30^\circ | 30^\circ
= \arcsin\frac12 | 30^\circ
= \frac{\pi}{6} | \frac{\pi}{6} \text{ radians}
! 45^\circ | 45\pi
! \frac{\pi}{4} | 45
! 45^\circ | 44^\circ
! \frac{\pi}{3} | 45^\circ
! 60^\circ 42' | 60.42^\circ
"""

EXPRESSIONS = r"""
= (x+1)^2 | x^2+2x+1
= x^2-1 | (x-1)(x+1)
= \tan^2 y+1 | \sec^2 y
= \sin^2 x | 1-\cos^2 x
= \sin 2x | 2\sin x\cos x
= \cos 2\theta | 1-2\sin^2\theta
= \sqrt{\frac1n} | \frac{1}{\sqrt n}
= C_n^3 | \frac{n(n-1)(n-2)}{6}
= \binom{n}{2} | \frac{n(n-1)}{2}
= n! | n\cdot(n-1)!
= \frac{x+1}{x} | 1+\frac1x
= \ln(xy) | \ln x+\ln y
= \ln x^2 | 2\ln x
= e^{x+y} | e^xe^y
= a^{-1} | \frac1a
= 2^{x+1} | 2\cdot2^x
= \sqrt{x^2} | |x|
= x^{\frac12} | \sqrt x
= f(x)=x^2 | x^2
= x^2 | f(x)=x^2
= y=x^2 | x^2
= x^2 | y=x^2
= a_n=2n+1 | 2n+1
= a_n=2n+1 | a_n=1+2n
= 2n+1 | a_{n}=2n+1
= \frac{n(n+1)}{2} | \frac{n^2+n}{2}
= xy | yx
= 2xy | 2yx
= -x+3 | 3-x
= \frac{-x}{2} | -\frac{x}{2}
= x^3+3x-6 | -6 + 3x + x^3
= 3x^2y | 3yx^2
= \frac{1}{1-x} | -\frac{1}{x-1}
= (-1)^n | (-1)^{n+2}
= \cos n\pi | (-1)^n
= \frac{2\pi}{\omega} | 2\pi/\omega
= mc^2 | c^2m
= \frac12 mv^2 | 0.5mv^2
= \log_2 x | \frac{\ln x}{\ln 2}
= \frac{x^2}{x} | x
= \alpha+\beta | \beta+\alpha
= x_1+x_2 | x_2+x_1
= \arctan x | \tan^{-1} x
= \sinh x | \frac{e^x-e^{-x}}{2}
= (x+y)^2 | x^2+2xy+y^2
= \frac{a}{b}\cdot c | \frac{ac}{b}
= \sqrt{a^2b^2+b^2c^2+c^2a^2} | \sqrt{a^2b^2+a^2c^2+b^2c^2}
= 4x(x-2) | 4x^2-8x
= \lfloor x\rfloor+1 | 1+\lfloor x\rfloor
= x^4-1 | (x^2+1)(x^2-1)
= \frac{1}{\sqrt{x}+1} | \frac{\sqrt x-1}{x-1}
! x | y
! x | 5
! 5 | x
! x^2 | x^3
! (x+1)^2 | x^2+1
! \sin^2 x | \sin x^2
! 2^{x+1} | 2^x+1
! \sqrt{x^2} | x
! x-y | y-x
! \frac{a}{b} | \frac{b}{a}
! 2n+1 | 2n-1
! a_n=2n+1 | a_n=2n+3
! \ln(x+y) | \ln x+\ln y
! \frac{1}{x+y} | \frac1x+\frac1y
! \binom{n}{2} | \binom{n}{3}
! x_1 | x_2
! n! | (n+1)!
! \sin x | \cos x
! e^{2x} | e^{x^2}
! 3x | 3x^2
! 2x+3 | 2x+3y
= \sup_n a_n | \sup_{n} a_n
! \sup_n a_n | \sup_n b_n
! \max_k x_k | \max_k y_k
"""

CONSTANTS = r"""
= x^2+C | x^2+K
= x^2+C | x^2-C
= x^2+C | C+x^2
= x^2+C | x^2+c
= \sin^2 x+C | -\cos^2x+C
= \sin^2 x+C | -\frac12\cos 2x+C
= \ln|x|+C | C+\ln|x|
= y=Ce^x | y=Ke^x
= y=C_1e^x+C_2e^{2x} | y=Ae^x+Be^{2x}
= y=C_1e^x+C_2e^{2x} | y=C_2e^x+C_1e^{2x}
= y=C_1\cos x+C_2\sin x | y=C_1\sin x+C_2\cos x
= k\pi | n\pi
= x=k\pi | n\pi
= x=k\pi, k\in\mathbb{Z} | x=n\pi, n\in\mathbb{Z}
= \frac{\pi}{2}+k\pi | \frac{\pi}{2}+n\pi
= \frac{\pi}{2}+k\pi | -\frac{\pi}{2}+n\pi
= \frac{\pi}{3}+2k\pi | \frac{7\pi}{3}+2k\pi
= \frac{\pi}{2}+k\pi | \frac{(2k-1)\pi}{2}
= 2k\pi | -2k\pi
= 60^\circ+360^\circ k | 60^\circ+360^\circ n
= x=2k+1, k\in\mathbb{Z} | 2n-1, n \in \mathbb{Z}
= k\pi | \pi k \text{ where } k \text{ is an integer}
= \pm\frac{\pi}{4}+2k\pi | \frac{\pi}{4}+2k\pi, -\frac{\pi}{4}+2k\pi
! x^2+C | x^2
! x^2 | x^2+C
! x^2+C | x^3+C
! x^2+C | x^2+2x+C
! y=Ce^x | y=e^x+C
! y=C_1e^x+C_2e^{2x} | y=C_1e^x+C_2e^{3x}
! k\pi | 2k\pi
! k\pi | \frac{k\pi}{2}
! \frac{\pi}{2}+k\pi | \frac{\pi}{2}+2k\pi
! \frac{\pi}{3}+2k\pi | \frac{\pi}{6}+2k\pi
! a_n=2n+1 | a_n=2n-1
"""

EQUATIONS = r"""
= 2x+4y-3=0 | y=-\frac12x+\frac34
= 2x+4y-3=0 | 4x+8y=6
= 2x+4y-3=0 | 2x+4y=3
= y=2x+1 | 2x-y+1=0
= y=2x+1 | y-1=2x
= x^2+y^2=4 | y^2+x^2-4=0
= (x-1)^2+y^2=1 | x^2+y^2-2x=0
= \frac{x^2}{4}+\frac{y^2}{3}=1 | 3x^2+4y^2=12
= y^2=4x | x=\frac{y^2}{4}
= x+y+z=1 | z=1-x-y
= xy=1 | y=\frac1x
= y=e^x | x=\ln y
= y=\pm 2x | y=2x, y=-2x
= y = -8(x-3) | -8x+24
= r=2\cos\theta | r = 2 \cos \theta
= \frac{x}{2}+\frac{y}{3}=1 | 3x+2y=6
= x=3 | 3
= x-3=0 | x=3
! 2x+4y-3=0 | 2x+4y+3=0
! y=2x+1 | y=2x-1
! x^2+y^2=4 | x^2+y^2=2
! x^2+y^2=4 | x^2-y^2=4
! y^2=4x | x^2=4y
! y=x | y=|x|
! y=x^2 | x=\sqrt y
! 0 | a+b=0
! 3 | x+y=3
! x=2 | y=2
! y=2x | y=2x, y=3x
"""

INTERVALS = r"""
= (-\infty,-5) | k<-5
= (-\infty,-5) | \{x\mid x<-5\}
= (-\infty,-5) | \{x : x<-5\}
= (-\infty,-5) | x \in (-\infty,-5)
= (-\infty,-5) | -5 > x
= (-\infty,-5) | (-∞, -5)
= (2,\infty) | (2,+\infty)
= [2,\infty) | x\geq 2
= [2,\infty) | x≥2
= [2,\infty) | \{x \in \mathbb{R} \mid x \ge 2\}
= (1,2] | 1<x\le2
= (1,2] | 1 < x \leqslant 2
= 1<x<2 | (1,2)
= 1<x<2 | x>1 \text{ and } x<2
= 1<x<2 | ]1,2[
= [1,2) | [1,2[
= x<1\text{ or }x>3 | (-\infty,1)\cup(3,\infty)
= (-\infty,1)\cup(3,\infty) | (3,\infty)\cup(-\infty,1)
= (-\infty,1)\cup(3,\infty) | x>3 \text{ or } x<1
= (-\infty,1)\cup(3,\infty) | (-∞,1) ∪ (3,∞)
= \mathbb{R} | (-\infty,\infty)
= \mathbb{R} | \text{all real numbers}
= (0,\infty) | \mathbb{R}^+
= x\neq 3 | (-\infty,3)\cup(3,\infty)
= x\neq 3 | \mathbb{R}\setminus\{3\}
= [0,1]\cup[1,2] | [0,2]
= [-2,7] | -2 \le x \le 7
= x \in [-2,7] | [-2,7]
= m>-3 | (-3,\infty)
= m>-3 | -3<m
= \left[\frac12,1\right] | 0.5 \le x \le 1
= a \ne 2 | a \neq 2
= -4<m\leq0 | (-4,0]
= k \le \frac13 | \left(-\infty,\frac{1}{3}\right]
! (-\infty,-5) | (-\infty,-5]
! (-\infty,-5) | k>-5
! (-\infty,-5) | k\le -5
! (-\infty,-5) | -5
! [2,\infty) | (2,\infty)
! 1<x<2 | [1,2]
! (1,2] | [1,2)
! (-\infty,1)\cup(3,\infty) | (1,3)
! (-\infty,1)\cup(3,\infty) | (-\infty,1)
! \mathbb{R} | (0,\infty)
! x\neq 3 | x=3
! x>2 | x>3
"""

LISTS = r"""
= 1,2 | 2,1
= 1, 2, 3 | 3, 2, 1
= 1, 2 | \{1,2\}
= \{1,2\} | 1,2
= \{1,2\} | \{2,1\}
= 1,2 | 1 \text{ and } 2
= 1,2 | 1 or 2
= 1,2 | x=1 \text{ or } x=2
= x=1, x=2 | 1, 2
= x_1=1, x_2=2 | x=2, x=1
= \pm 2 | 2, -2
= \pm 2 | -2, 2
= 2, -2 | \pm 2
= 1\pm\sqrt2 | 1+\sqrt2, 1-\sqrt2
= x=1\pm\sqrt2 | 1-\sqrt{2}, 1+\sqrt{2}
= 0, \pm 1 | -1, 0, 1
= x=1, y=2 | y=2, x=1
= x=1, y=2 | x=1,y=2
= x=1, y=2 | (1,2)
= a=1, b=2, c=3 | (a,b,c)=(1,2,3)
= (1,2),(3,4) | (3,4),(1,2)
= (1,2),(3,4) | (3,4) \text{ and } (1,2)
= (\pm1,0) | (1,0),(-1,0)
= 1,2,3 | 1, 2 \text{ and } 3
= 1,2,3 | 1; 2; 3
= \frac12, 2 | 2, 0.5
= $8$,$4$ | 4, 8
= 7,4 | 7 \text{ goats and } 4 \text{ toys}
= 1,2 | (1,2)
= \{0\} | 0
= 2, 3 | \text{2 and 3}
= 1,234, 5 | 5, 1234
= -2, 3 | x \in \{-2, 3\}
= \{\emptyset\} | \{\emptyset\}
! 1,2 | 1
! 1,2 | 1,2,3
! 1,2 | 1,3
! 1,2 | (2,1)
! \pm 2 | 2
! 1 | 1,2
! 4 | 4 or 5
! x=1, y=2 | x=2, y=1
! x=1, y=2 | 2, 1
= x=1, y=2 | 1, 2
= x_1=1, x_2=2 | 2, 1
! y=\frac{C}{x} | \frac{6y}{x}
! [1,2) | (1,2)
= ]1,2] | (1,2]
! 3:5 | \$3\$5
! (1,2),(3,4) | (1,2)
! (1,2),(3,4) | (2,1),(3,4)
! 1234 | 1, 234
! 1, 234 | 1234
"""

TUPLES = r"""
= (1,2) | (1, 2)
= (1,2) | \langle 1,2\rangle
= (1,2) | \left(1,2\right)
= (1,2) | \begin{pmatrix}1\\2\end{pmatrix}
= (1,2) | \begin{pmatrix}1&2\end{pmatrix}
= (1,2) | x=1, y=2
= (1,2) | P(1,2)
= P(1,2) | (1,2)
= P(1,2) | P = (1,2)
= (1,2) | (x,y)=(1,2)
= (1,2) | (1;2)
= (1,2) | (1.0, 2.0)
= (1,2,3) | x=1,y=2,z=3
= (1,2,3) | (x,y,z) = (1,2,3)
= (1,2) | 1, 2
= (\frac12,\sqrt{4}) | (0.5,2)
= (2,-3) | 2\mathbf{i}-3\mathbf{j}
= (1,2) | \{(1,2)\}
= (3,331) | (3, 331)
= (0, 2+2) | (0,4)
= (a+b, a-b) | (b+a, -b+a)
= \begin{pmatrix}1\\2\end{pmatrix} | (1,2)
= [1,2,3] | (1,2,3)
! (1,2) | (2,1)
! (1,2) | (1,2,3)
! (1,2) | (1,3)
! (1,2) | x=2, y=1
! (1,2) | (1,2),(3,4)
! (1,2) | 3
! (1,2,3) | (3,2,1)
"""

MATRICES = r"""
= \begin{pmatrix}1&2\\3&4\end{pmatrix} | \begin{bmatrix}1&2\\3&4\end{bmatrix}
= \begin{pmatrix}1&2\\3&4\end{pmatrix} | \left[\begin{array}{cc}1&2\\3&4\end{array}\right]
= \begin{pmatrix}1&2\\3&4\end{pmatrix} | A=\begin{pmatrix}1&2\\3&4\end{pmatrix}
= \begin{pmatrix}1&2\\3&4\end{pmatrix} | \begin{pmatrix} 1 & 2 \\ 3 & 4 \\ \end{pmatrix}
= \begin{pmatrix}1/2&1\\3/2&2\end{pmatrix} | \frac12\begin{pmatrix}1&2\\3&4\end{pmatrix}
= \begin{pmatrix}-1&0\\0&-1\end{pmatrix} | -\begin{pmatrix}1&0\\0&1\end{pmatrix}
= \begin{pmatrix}a&b\\c&d\end{pmatrix} | \begin{bmatrix}a & b \\ c & d\end{bmatrix}
= \begin{pmatrix} 1 \\ 2 \end{pmatrix} | \begin{bmatrix} 1 \\ 2 \end{bmatrix}
! \begin{pmatrix}1&2\\3&4\end{pmatrix} | \begin{pmatrix}1&3\\2&4\end{pmatrix}
! \begin{pmatrix}1&2\\3&4\end{pmatrix} | \begin{pmatrix}1&2\\3&5\end{pmatrix}
! \begin{pmatrix}1&2\\3&4\end{pmatrix} | \begin{pmatrix}1&2\end{pmatrix}
! \begin{pmatrix}1&2\\3&4\end{pmatrix} | (1,2,3,4)
! \begin{pmatrix}1&2\end{pmatrix} | \begin{pmatrix}1\\2\end{pmatrix}
"""

BASES = r"""
= 1010_2 | 1010_{2}
= 1010_2 | 1010_{\text{2}}
= 1010_2 | 1010₂
= 1010_2 | (1010)_2
= 1010_2 | 1010 \text{ base } 2
= 1010_2 | 1010_{two}
= 1010_2 | 1010_{\text{two}}
= FF_{16} | ff_{16}
= 40_9 | 40_{9}
= 57_{10} | 57
= 57 | 57_{10}
! 1010_2 | 1010
! 1010_2 | 10
! 1010_2 | 1010_3
! 1010_2 | 1011_2
! 141_{13} | 141
! 10 | 1010_2
"""

RATIOS = r"""
= 2:1 | 4:2
= 2:1 | 2
= 2:1 | 2 : 1
= 2:1 | 2 to 1
= 2:1 | 2 \text{ to } 1
= 2:1 | \frac{2}{1}
= 1:2 | \frac12
= 1:2 | 0.5
= 1:2:3 | 2:4:6
= 2 | 2:1
= \frac{3}{4} | 3:4
= 3:4 | 3/4
= a:b = 3:4 | 3:4
= \sqrt{2}:1 | 2:\sqrt2
! 2:1 | 1:2
! 2:1 | 3:1
! 1:2:3 | 1:2:4
! 1:2:3 | 3:2:1
! 3:4 | \frac43
"""

WORDS = r"""
= no solution | \emptyset
= no solution | \text{No solution}
= \emptyset | \varnothing
= \emptyset | none
= \emptyset | \{\}
= \text{no solution} | \text{There is no solution}
= \text{no real solutions} | \emptyset
= Paris | paris
= Paris | \text{Paris}
= Paris | Paris.
= the Moon | Moon
= Zürich | Zurich
= ice cream | icecream
= yes | Yes
= Yes | \text{Yes}
= \text{even} | even
= isosceles triangle | an isosceles triangle
= infinitely many | \infty
= true | True
= July 4, 1776 | 4 July 1776
= July 4, 1776 | 1776-07-04
= July 4, 1776 | July 4th, 1776
= July 4, 1776 | 4th of July, 1776
= Dec 25 | December 25
= Monday | monday
= 4:30 p.m. | 4:30 PM
= 4:30 p.m. | 16:30
= 4:30 p.m. | 4:30
= 4:30 | 4:30 p.m.
= 12:00 p.m. | noon
= 0:00 | midnight
= 5 p.m. | 17:00
= 7 o'clock | 7:00
= 300 BC | 300 BCE
! Paris | Not Paris
! Paris | London
! Paris | Paris or London
! yes | no
! even | odd
! even | not even
! no solution | 0
! no solution | one solution
! \emptyset | 0
! July 4, 1776 | July 5, 1776
! July 4, 1776 | July 4, 1777
! July 4 | June 4
! Monday | Sunday
! 4:30 p.m. | 4:30 a.m.
! 4:30 p.m. | 4:31 p.m.
! noon | midnight
! Georgia | Georgia Brown
"""

UNSOLVED = r"""
! 4 | 2+2
! 17 | 20-3
! 408 | 12\cdot 34
! \frac13 | \int_0^1 x^2\,dx
! 5050 | \sum_{k=1}^{100}k
! 6 | \gcd(12,18)
! 7 | \max(7,3)
! 36 | \text{lcm}(12,18)
! 3 | \min(3,7)
! 120 | \prod_{k=1}^5 k
! 252 | \binom{10}{5}
! 252 | C_{10}^5
! 2 | 17 \bmod 5
! 30 | 2\cdot3\cdot5
! 30 | 2 \times 3 \times 5
! 1 | \lim_{x\to0}\frac{\sin x}{x}
! 15 | 3 * 5
! 10 | 5+5
= 72 | 2^3\cdot3^2
= \frac{5}{324} | 5!/6^5
= 4 | 2+2=4
= 4 | 2+2 = 4
= 6 | \gcd(12,18)=6
= 252 | \binom{10}{5}=252
= \frac{1}{2} | \frac{2}{4}=\frac12=0.5
= 2\cdot 3 | 6
= 2^{10}-1 | 2^{10}-1
= 2^{10}-1 | 1023
= \binom{10}{5} | \binom{10}{5}
= \binom{10}{5} | 252
= 1+\sqrt2 | 1+\sqrt{2}
= 3+4i | 3+4i
= \frac{1+\sqrt5}{2} | \frac{1}{2}+\frac{\sqrt5}{2}
= \frac{3\pi}{4} | 3\pi/4
= 3628800 | 10!
= 3 | \log_2 8
= 1000000 | 10^6
= \frac{1}{12} | \frac{1}{3}\cdot\frac{1}{4}
! 5 | 4=5
! 4 | 4=5
! 5 | 5 \approx 4
= \pi | \pi\approx 3.14
= \frac{22}{7} | \frac{22}{7} \approx 3.14
! 5 | 5 \text{ or } 6
! 5 | 4 < 5
! 5 | x \ne 5
! 5 | 5, 6
! 5 | \{4,5\}
! 5 | 4 \text{ to } 6
"""

NOTATION = r"""
= \frac{1}{2}x | 0.5x
= x^2+y^2 | x² + y²
= \frac{x}{y} | x/y
= \sqrt{x^2+1} | sqrt(x^2+1)
= \sqrt{x^2+1} | (x^2+1)^(1/2)
= \sqrt{x^2+1} | √(x²+1)
= e^{-x} | exp(-x)
= e^{-x} | e^-x
= e^{-x} | 1/e^x
= \ln(x) | ln x
= \log_2(x) | log_2(x)
= \sin^2(x) | (sin x)^2
= \sin^2 x | sin^2(x)
= |x| | abs(x)
= \pi r^2 | pi*r^2
= \pi r^2 | πr²
= \frac{\pi}{6} | pi/6
= 10^{-3} | 0.001
= 10^{-3} | 1e-3
= \infty | infinity
= \infty | ∞
= -\infty | -infinity
= +\infty | \infty
! \infty | -\infty
= \frac{3}{8} | 3 / 8
= \theta | θ
= 2x\sin x | 2x sin(x)
= 2x\sin x | 2*x*sin(x)
= x^{10} | x^10
= x_1 | x_{1}
= 3\sqrt{2} | 3*sqrt(2)
= 3\sqrt{2} | 3√2
= \sqrt[3]{5} | cbrt(5)
= \sqrt[3]{5} | ∛5
= \sqrt[3]{5} | 5^{\frac{1}{3}}
= \frac{a+b}{2} | (a+b)/2
! \frac{a+b}{2} | a+b/2
! e^{-x} | e^x
! \frac{x}{y} | y/x
= 5 | \left(5\right)
= 5 | \displaystyle 5
= 5 | \boldsymbol{5}
= 5 | \textbf{5}
= 5 | $5$
= 5 | \(5\)
= 5 | \[5\]
= 5 | 5\,
= 5 | \quad 5
= 5 | {{5}}
= 5 | ~5
= \frac{1}{2} | \dfrac12
= \frac{1}{2} | \frac 1 2
= \frac{1}{2} | \frac{1}2
= \frac{1}{2} | \frac1{2}
= \frac{1}{2} | \cfrac{1}{2}
= \frac{1}{2} | 1\over2
= \frac{1}{2} | ^1/_2
= \sqrt{3} | \sqrt 3
= 2\cdot 10^5 | 200000
= (1,2) | \big(1,2\big)
= (1,2) | \left( 1 , 2 \right)
= x\le 3 | x\leq3
= x\ge 3 | 3\le x
= \{1,2\} | \lbrace 1,2 \rbrace
= \alpha | \alpha.
= ab | a b
= ab | a\cdot b
= ab | a \times b
= ab | a*b
= 1000 | 1,000.00
= 1000 | 1{,}000
= 1000 | 1000.
= 0.25 | .25
= -0.25 | -.25
= 1000000 | 10^{6}
= 1000000 | 1 million
= 2500000 | 2.5 million
= 0 | -0
= 0 | 0.0
= \frac{1}{7} | 0.\overline{142857}
= 0.\overline{9} | 1
= \frac{7}{3} | 2\tfrac13
= \frac{7}{3} | 2 \frac{1}{3}
= 3.5 | 3 \frac{1}{2}
! \frac{7}{3} | 2\cdot\frac13
= 1.5\times 10^{-3} | 0.0015
= 1.5\times 10^{-3} | 1.5*10^-3
= 1.5\times 10^{-3} | 1.5 x 10^{-3}
= 2^{1/2} | \sqrt2
= 7 | 7 \text{ (seven)}
= 42 | \text{forty-two}
= 5 | +5
= 12 | 12 \text{ ways}
= 12 | \text{12 ways}
= 12 | 12 ways
= 3 | \text{three}
= 3 | x \approx 3
! 3 | x < 3
= 5 | \text{Answer: } 5
= 5 | n = 5
= 5 | \text{the value is } 5
"""

FAMILIES_CURVES_RATIOS_BASES = r"""
= -\infty | -infinity
= \frac{1}{2} | 1\over2
= \frac12 | ¹⁄₂
= 1000000 | 1 million
= 2500000 | 2.5 million dollars
= 1.5\times 10^{-3} | 1.5 x 10^{-3}
= 7 | 7 \text{ (seven)}
= y=Ce^{-x}+x-1 | y=x-1+Ce^{-x}
= y=Ce^{-x}+x-1 | y = x - 1 + ce^{-x}
= y = \frac{C}{x} | y = \frac{K}{x}
= y = \frac{C}{x} | xy=C
= x^2+y^2=C | x^2+y^2=K
= \ln|x|+C | \ln|x|+C_1
= \ln|x|+C | \ln|2x|+C
= \frac{x^3}{3}+C | \frac13x^3+C
= \frac{x^3}{3}+C | \frac{x^3+C}{3}
= \tan x + C | C + \tan x
= 2\sqrt{x}+C | 2x^{1/2}+C
= \arctan x+C | -\operatorname{arccot}x+C
= y=C_1e^{-x}+C_2xe^{-x} | y=(A+Bx)e^{-x}
= y=C_1\cos2x+C_2\sin2x | y = A\cos 2x + B\sin 2x
! y=C_1e^{-x}+C_2xe^{-x} | y=C_1e^{-x}
! y = C_1 e^{x} + C_2 | y=Ce^x
= x = n\pi | x = \pi n, n \in \mathbb{Z}
= x=\frac{\pi}{2}+n\pi, n\in\mathbb Z | x=\frac{(2n+1)\pi}{2}, n\in\mathbb{Z}
= x=(-1)^n\frac{\pi}{6}+n\pi | x=\frac{\pi}{6}+2n\pi, \frac{5\pi}{6}+2n\pi
= x = 45^\circ + 180^\circ n | x = \frac{\pi}{4} + n\pi
= 3k, k \in \mathbb{Z} | 3n, n \in \mathbb{Z}
= n=4k+3 \text{ for integer } k | n=4k-1, k\in\mathbb{Z}
! 3k, k \in \mathbb{Z} | 6n, n \in \mathbb{Z}
! a_n = 3n-2 | a_n=3n+1
! a_n = 2^{n} | a_n=2^{n-1}
= a_n = 2^{n-1} | \frac{2^n}{2}
= (x-2)^2+(y+3)^2=25 | (x-2)^2+(y+3)^2=5^2
= (x-2)^2+(y+3)^2=25 | x^2 + y^2 - 4x + 6y - 12 = 0
= y = \frac{1}{2}x - 3 | x-2y=6
= y = \frac{1}{2}x - 3 | x - 2y - 6 = 0
= y = \frac{1}{2}x - 3 | \frac12x-3
= y=3 | y-3=0
= x+2y+3z=6 | \frac{x}{6}+\frac{y}{3}+\frac{z}{2}=1
= \frac{x-1}{2}=\frac{y}{3} | 3x-2y-3=0
= y=x^2-4x+7 | y = (x-2)^2+3
= x=y^2 | y^2=x
= |x|+|y|=1 | |y|+|x|=1
= y=2^x | x=\log_2 y
= r = 4\sin\theta | r=4\sin(\theta)
= x^2=4 | x^2-4=0
! y=x^2 | y=x^2+1
! x+y=1 | x-y=1
! y=\sqrt{x} | y^2=x
! \frac{x^2}{4}+y^2=1 | \frac{x^2}{2}+y^2=1
! (x-2)^2+(y+3)^2=25 | (x+2)^2+(y-3)^2=25
! y=3 | x=3
= 3:5 | 3 : 5
= 3:5 | 0.6
= 3:5 | \frac{3}{5}
= 3:5 | 6:10
= 3:5 | 3\text{ to }5
= 1:1 | 1
= 2:3:4 | 4:6:8
= 2:3:4 | \frac12:\frac34:1
= 7:4 | 1.75:1
! 3:5 | 5:3
! 3:5 | 3.5
! 2:3:4 | 2:3
= 2102_3 | 2102_{3}
= 2102_3 | 2102_{\text{three}}
= 2102_3 | (2102)_3
= 2102_3 | 2102_{(3)}
= 2102_3 | 2102 (base 3)
= 2102_3 | 2102 in base 3
= 2102_3 | 2102_{base 3}
= 2102_3 | N = 2102_3
= A3F_{16} | a3f_{16}
= A3F_{16} | \text{A3F}_{16}
= A3F_{16} | \mathrm{A3F}_{16}
= 110.01_2 | 110.01_{2}
= 46_8 | 46_{\text{eight}}
= 11_2 | 011_2
! 2102_3 | 2102
! 2102_3 | 65
! 2102_3 | 2102_4
! 2102_3 | 2012_3
! 65 | 2102_3
= 10_{10} | 10
"""

TIMES_UNITS_TUPLES_LISTS = r"""
= 3:45 p.m. | 15:45
= 3:45 p.m. | 3:45 PM
= 3:45 p.m. | 3:45pm
= 3:45 p.m. | 3.45 p.m.
= 3:45 p.m. | 3{:}45 \text{ p.m.}
= 3:45\text{ p.m.} | 3:45 \text{ PM}
= 3:45 \text{ in the afternoon} | 3:45 p.m.
= 12:30 a.m. | 0:30
= 12:30 a.m. | 00:30
= 12 noon | 12:00 p.m.
= noon | 12 p.m.
= midnight | 12:00 a.m.
= midnight | 0:00
= 8 a.m. | 8:00 a.m.
= 8 AM | 08:00
= 8 \text{ o'clock} | 8 o'clock
! 3:45 p.m. | 3:54 p.m.
! 3:45 p.m. | 3:45 a.m.
! 8 a.m. | 20:00
= March 14 | 14 March
= March 14 | Mar 14
= March 14 | March 14th
= March 14 | the 14th of March
= March 14, 2015 | 14/03/2015
= March 14, 2015 | 2015-03-14
= March 14, 2015 | 14 March 2015
= March 14, 2015 | Mar. 14, 2015
= March 2015 | Mar 2015
= Saturday, March 14, 2015 | March 14, 2015
= Wednesday | \text{Wednesday}
= Wednesday | on Wednesday
= Wednesday | Wed
= 753 BC | 753 B.C.
= 753 BC | 753 BCE
! 753 BC | 753
! March 14 | March 15
! March 14, 2015 | March 14, 2016
! Wednesday | Thursday
= 21st century | 21st century
= February | Feb
= 1 hour 30 minutes | 90 minutes
= 1 hour 30 minutes | 1.5 hours
= 90 \text{ minutes} | 1 \text{ hour } 30 \text{ minutes}
= 2 \text{ weeks} | 14 \text{ days}
! 1 hour 30 minutes | 1.3 hours
= 60 \text{ mph} | 60 \text{ miles per hour}
= 60 \text{ mph} | 60 \text{ mi/h}
= 5 \text{ cm} | 50 \text{ mm}
= 5 \text{ cm} | 5\text{ cm.}
= 5 \text{ cm} | 5\,\text{cm}
= 5\text{ cm} | 5 centimetres
= 5\ \text{cm}^3 | 5\ \text{mL}
= 5\ \text{cm}^3 | 5 \text{ cubic centimeters}
= 5\ \text{m}^2 | 5 \text{ m}^{2}
= 5\ \text{m}^2 | 5\text{ m²}
= 5\ \text{m}^2 | 5 m^2
= 5\ \Omega | 5 \text{ ohms}
= 20^\circ\text{C} | 20
= 20^\circ\text{C} | 20 ^\circ C
= 20 °C | 20 degrees Celsius
! 20^\circ\text{C} | 20^\circ\text{F}
= 1500 \text{ W} | 1.5 \text{ kW}
= 3.0\times10^8 \text{ m/s} | 3\times10^8 \text{ m s}^{-1}
= \$1{,}250 | 1250
= \$1,250.00 | \$1250
= \$1{,}250 | 1{,}250\text{ dollars}
= 75 cents | \$0.75
= 0.75 \text{ dollars} | 75¢
= 50 \text{ people} | 50
= 6 \text{ units} | 6
= 6 \text{ sq. units} | 6
= 6 \text{ square units} | 6 \text{ units}^2
= 4\text{ dozen} | 48
= 100 | 100\text{ km}
! 100 \text{ km} | 100 \text{ miles}
! 100 \text{ km} | 100 \text{ m}
! \$5 | £5
! 5 \text{ cm} | 5 \text{ in}
= 72^\circ | 72 \text{ degrees}
= 72^\circ | 72^{\text{o}}
= 72^\circ | 72^o
= 72^\circ | \frac{2\pi}{5}
= 72^\circ | m\angle ABC=72^\circ
= 72^\circ | \angle B = 72
= 0.5\text{ rad} | 0.5
= \frac{\pi}{2} | 90^{\circ}
= \frac{\pi}{2} | \frac{\pi}{2}\text{ rad}
= 36.87^\circ | 36.9^\circ
= 12^\circ30' | 12.5^\circ
= 12^\circ 30' | 12^\circ30'0''
= 12^{\circ}30^{\prime} | 12.5^{\circ}
! 72^\circ | 72 \text{ radians}
! 72^\circ | 72'
! \frac{\pi}{2} | 90
= (x,y) = (3,-1) | x = 3, y=-1
= (3,-1) | x=3 \text{ and } y=-1
= (3,-1) | \left(3,\ -1\right)
= (3,-1) | [3,-1]
= (3,-1) | \begin{bmatrix} 3 \\ -1 \end{bmatrix}
= (3,-1) | A(3,-1)
= (3,-1) | \overrightarrow{AB} = (3,-1)
= (3,-1) | \vec{v} = \langle 3, -1 \rangle
= (3,-1) | 3\mathbf{i} - \mathbf{j}
= (3,-1) | 3\hat{i}-\hat{j}
= (3,-1,2) | 3\mathbf{i} - \mathbf{j} + 2\mathbf{k}
= \left(\frac{1}{2},2\right) | (1/2, 2)
! (3,-1) | (-1,3)
! (3,-1) | \{3,-1\}
! (3,-1) | 3
= \{1,2,3\} | \{3,1,2\}
= \{1,2,3\} | 1,2,3
= \{1,2,3\} | \{1, 2, 3\}.
= \{1,2,3\} | x \in \{1,2,3\}
= \{1,2,3\} | [1,2,3]
= -1, 3 | x = -1 \text{ or } x = 3
= -1, 3 | x=-1,3
= -1, 3 | x_1 = -1, x_2 = 3
= -1, 3 | x \in \{-1, 3\}
= -1, 3 | -1 \text{ and } 3
= -1, 3 | -1; 3
= -1, 3 | \text{either } -1 \text{ or } 3
= -1, 3 | x=3\lor x=-1
= -1 \text{ and } 3 | 3, -1
= 2\pm\sqrt3 | 2+\sqrt{3},\ 2-\sqrt{3}
= 2\pm\sqrt3 | x = 2 \pm \sqrt{3}
= x=2\pm\sqrt3 | 2\pm\sqrt{3}
= \pm1, \pm2 | -2,-1,1,2
= \pm i | i, -i
= a=2, b=3 | b=3, a=2
= a=2, b=3 | (2,3)
= a=2, b=3 | (a,b)=(2,3)
= a=2, b=3 | a=2 \text{ and } b=3
= (1,1), (2,4) | (2,4), (1,1)
= (1,1), (2,4) | \{(1,1),(2,4)\}
= (1,1), (2,4) | (x,y)=(1,1),(2,4)
= (1,1), (2,4) | (1,1) \text{ or } (2,4)
! -1, 3 | -1
! -1, 3 | -1, 3, 5
! -1,3 | (3,-1)
! a=2, b=3 | a=3, b=2
! \{1,2,3\} | \{1,2\}
! 2\pm\sqrt3 | 2+\sqrt3
! (1,1), (2,4) | (1,1)
! 4:31:15 p.m. | 4:30:75 p.m.
= 4:30:15 p.m. | 16:30:15
"""

TABLES = {name: table for name, table in dict(globals()).items() if name.isupper()}


def pairs(table: str) -> list[tuple[str, str, bool]]:
    """The pairs of a table: gold, answer, whether it is right."""
    found = []
    for line in table.strip().splitlines():
        # A bar with spaces parts gold and answer; bars inside formulas have none.
        gold, _, answer = line[2:].partition(" | ")
        found.append((gold.strip(), answer.strip(), line[0] == "="))
    return found
